"""Why does a typed network link a user with an item? Which edges, which relation, which path?"""

import eigsearch
from eigsearch import datasets
from eigsearch.models import zoo

graph = datasets.generate("Two-Ways")[0]  # a HeteroData: users, items, attributes, critics
model, card = zoo.load("Two-Ways", "hetero")  # HeteroConv layers, and a score for each pair

number = int((graph.y == 1).nonzero()[0])
user, item = graph.edge_label_index[:, number].tolist()
link = (("user", user), ("item", item))

found = eigsearch.explain(model, graph, link=link)
print(found.sentence())
for edge_type, mask in found.edge_mask.items():
    if mask.any():
        print(" ", edge_type, graph[edge_type].edge_index[:, mask].t().tolist())
for path in found.paths(k=2, max_length=3):
    print("  path:", path.nodes)

relations = eigsearch.explain(model, graph, link=link, groups="relation", min_size=1)
for edge_type, score in relations.edge_score.items():
    if score.any():
        print(f"  without {edge_type[1]} the log-odds fall by {float(score.max()):.2f}")
