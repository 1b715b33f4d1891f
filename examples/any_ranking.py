"""Search on top of any explainer's ranking, and compare the gains."""

import eigsearch
from eigsearch import datasets, explainers
from eigsearch.models import zoo

graph = datasets.generate("BA-2Motifs")[999]
model, card = zoo.load("BA-2Motifs", "gin")

for name in ("eig_search", "sa", "gradcam", "ig", "random"):
    found = eigsearch.explain(model, graph, ranker=explainers.get(name))
    print(f"{name:12} size {found.size:2}  gain {found.gain:+.3f}")

better = eigsearch.explain(model, graph, search="refine")
print(f"{'refined':12} size {better.size:2}  gain {better.gain:+.3f}")
