"""What several explainers are made of.

How a method sees a model: `subject` (gradients, on a private copy), `weights` (edge weights),
`probe` (keep-rows over nodes), `opened` (embeddings and the head), `two_class` (as PyG calls it).
What it works with: `asking` (candidates for the engine of a run), `coalitions` (sets of nodes),
`training_set` and `scorer` (predictions to learn from, and the network that learns).
"""
