"""How long one link of a typed graph takes: both engines, plain calls, and the slow twin.

    EIGSEARCH_DATA=… python -m benchmarks.speed.one_link

The links are those of UserItemAttr that the published R-GCN predicts; an untrained `HeteroConv` of
SAGEConv of the same width is asked about the same ones. `data set` is `explain_dataset` for all 129
links, the others explain one link at a time. *Plain calls* masks the edges of the whole graph and
calls the model once for each candidate, and does nothing else; *slow twin* is the reference of the
tests, which builds each candidate edge by edge, here of the edges that can reach the link. All take
turns in one process, on one thread, after a warm-up; medians of CPU time.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from tests.reference import twin, typed_twin
from tests.reference.page_link import PageLink
from torch import Tensor
from torch_geometric.data import HeteroData

from benchmarks.speed.timing import write
from eigsearch import explain, explain_dataset
from eigsearch.datasets import load
from eigsearch.models.hetero_gnn import HeteroGNN
from eigsearch.models.rgcn import load_rgcn

ENDS = ("user", "item")
REVERSE = {
    ("user", "buys", "item"): ("item", "bought_by", "user"),
    ("item", "bought_by", "user"): ("user", "buys", "item"),
    ("item", "has", "attr"): ("attr", "of", "item"),
    ("attr", "of", "item"): ("item", "has", "attr"),
}
LAYERS = 2
WARM_UP, ROUNDS, TWINS = 2, 9, 1  # links: not counted, counted, and explained by the slow twin
Link = tuple[tuple[str, int], tuple[str, int]]


def models(folder: Path, data: HeteroData) -> dict[str, Any]:
    """Return the networks by name."""
    torch.manual_seed(0)
    widths = {kind: data[kind].num_features for kind in data.node_types}
    hetero = HeteroGNN(widths, data.edge_types, 2, ENDS, width=64).eval()
    return {"R-GCN": load_rgcn(folder / "rgcn.safetensors"), "HeteroConv": hetero}


def plain_calls(model: Any, data: HeteroData, ex: Any) -> None:
    """Call the model once for each candidate of an explanation, on masked edge lists."""
    links = torch.tensor([[ex.link[0][1]], [ex.link[1][1]]])
    sizes, order = ex.curve.size.tolist(), torch.argsort(-ex.score)
    keep = [torch.arange(ex.num_groups) != group for group in range(ex.num_groups)]
    chosen = [torch.isin(torch.arange(ex.num_groups), order[:size]) for size in sizes]
    flat = ex.flat.schema
    with torch.no_grad():
        for groups in (*keep, *chosen, *(~mask for mask in chosen)):
            kept = torch.ones(flat.edge_ptr[-1], dtype=torch.bool)
            kept[ex.edges] = groups[ex.group]
            by_type = flat.by_edge_type(kept)
            edges = {kind: data[kind].edge_index[:, by_type[kind]] for kind in data.edge_types}
            model(data.x_dict, edges, links)


def reaching(data: HeteroData, ex: Any) -> HeteroData:
    """Return the graph with the edges alone that an explanation is about."""
    kept = torch.zeros(ex.flat.schema.edge_ptr[-1], dtype=torch.bool)
    kept[ex.edges] = True
    cut = HeteroData({kind: {"x": data[kind].x} for kind in data.node_types})
    for kind, mask in ex.flat.schema.by_edge_type(kept).items():
        cut[kind].edge_index = data[kind].edge_index[:, mask]
    return cut


def slow_twin(model: Any, data: HeteroData, link: Link) -> None:
    """Explain a link by the reference of the tests."""

    def predict(graph: HeteroData, nodes: Sequence[tuple[str, int]]) -> Tensor:
        pair = torch.tensor([[nodes[0][1]], [nodes[1][1]]])
        with torch.no_grad():
            row = model(graph.x_dict, graph.edge_index_dict, pair).reshape(1, -1)
        return row if row.size(1) == 1 else row[:, 1:] - row[:, :1]

    asked = twin.Asked(1, "binary_classification")
    typed_twin.explain(predict, data, asked, link, REVERSE, LAYERS)


def seconds(run: Callable[[], Any]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def measure(model: Any, data: HeteroData, links: Tensor) -> dict[str, float]:
    """Return the CPU seconds for one link, by what explains it."""
    taken: dict[str, list[float]] = {}
    pairs: list[Any] = [tuple(zip(ENDS, pair, strict=True)) for pair in links.t().tolist()]
    for link in pairs[:WARM_UP]:
        for engine in ("auto", "batched"):
            explain(model, data, link=link, engine=engine)
    for number, link in enumerate(pairs[WARM_UP : WARM_UP + ROUNDS]):
        for name, run in ways(model, data, link, number < TWINS).items():
            taken.setdefault(name, []).append(seconds(run))
    for engine, name in (("auto", "incremental"), ("batched", "batched")) * 2:
        run = partial(explain_dataset, model, data, link=(ENDS, links), engine=engine)
        share = seconds(lambda run=run: list(run())) / links.size(1)  # type: ignore[misc]
        taken.setdefault(f"{name}, data set", []).append(share)
    return {name: statistics.median(times) for name, times in taken.items()}


def ways(model: Any, data: HeteroData, link: Any, with_twin: bool) -> dict[str, Callable[[], Any]]:
    """Return what explains one link."""
    example = explain(model, data, link=link)
    assert example.engine == "incremental"
    runs: dict[str, Callable[[], Any]] = {
        "incremental": partial(explain, model, data, link=link),
        "batched": partial(explain, model, data, link=link, engine="batched"),
        "plain calls": partial(plain_calls, model, data, example),
    }
    if with_twin:
        runs["slow twin"] = partial(slow_twin, model, reaching(data, example), link)
    return runs


def main() -> None:
    torch.set_num_threads(1)
    folder = Path(os.environ["EIGSEARCH_DATA"]) / "user_item_attr"
    data, reference = load("UserItemAttr", root=folder.parent)[0], PageLink(folder)
    chosen = [link for link in reference.test_links if reference.logit(link) > 0]
    links, rows = data.edge_label_index[:, chosen], []
    for name, model in models(folder, data).items():
        found = measure(model, data, links)
        for way, taken in found.items():
            row = {"model": name, "way": way, "ms_per_link": round(1e3 * taken, 1)}
            ratios = {
                f"times_{other.replace(' ', '_')}": round(found[other] / taken, 1)
                for other in ("batched", "plain calls", "slow twin")
            }
            rows.append({**row, **ratios})
            print(*rows[-1].values(), sep="\t", flush=True)
    write("one_link", rows)


if __name__ == "__main__":
    main()
