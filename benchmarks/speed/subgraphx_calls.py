"""Count the model calls of SubgraphX with its published defaults on a 25-node graph.

Its common implementation evaluates one coalition per call, about 190,000 of them. The rows behind
our calls are counted too: they are what one call per coalition would come to here.

Run: python benchmarks/speed/subgraphx_calls.py
"""

import time

import torch

from eigsearch import datasets
from eigsearch.explainers.games.subgraphx import SubgraphX
from eigsearch.models import zoo

COMMON_CALLS = 190_000


def main() -> None:
    torch.set_num_threads(1)
    model, _ = zoo.load("BA-2Motifs", "gin")
    for index in (0, 600):
        graph = datasets.load("BA-2Motifs")[index]
        sizes: list[int] = []
        model.register_forward_pre_hook(
            lambda _, arguments, named, seen=sizes: seen.append(int(named["batch"].max()) + 1),
            with_kwargs=True,
        )
        start = time.perf_counter()
        SubgraphX().rank(model, graph, int(graph.y), None)
        seconds = time.perf_counter() - start
        model._forward_pre_hooks.clear()
        print(
            f"graph {index}: {graph.num_nodes} nodes, {len(sizes):,} model calls for "
            f"{sum(sizes):,} distinct coalitions, 1/{COMMON_CALLS / len(sizes):.0f} of "
            f"{COMMON_CALLS:,}, {seconds:.1f} s"
        )


if __name__ == "__main__":
    main()
