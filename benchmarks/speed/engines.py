"""Time per explanation on Mutagenicity: slow twin, both engines, and the model's bare forward.

    python -m benchmarks.speed.engines [--graphs 200] [--repeats 5]

Everything runs in one process, on one thread, in turns. The bare forward is the model alone over
the same candidates, already built into batches: what any explainer that calls the model pays.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from tests.reference import twin
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import MessagePassing, global_mean_pool

from benchmarks.speed.timing import interleaved, write
from eigsearch import datasets, explain, explain_dataset
from eigsearch.candidates import Complements, LeaveOneOut, Prefixes
from eigsearch.engines.batched.disjoint_union import UnionPart, extract, to_batch
from eigsearch.engines.predictor import Predictor
from eigsearch.engines.request import Chunk, Request
from eigsearch.inference.eval_mode import eval_mode
from eigsearch.inputs.instance import Instance
from eigsearch.models import zoo
from eigsearch.options import Options

THIRTY = range(58, 63)  # directed edges of molecules of about thirty bonds
WHOLE: dict[str, Any] = {"sparsity": 0.0}  # the whole sweep: sizes 2 to |E| − 1


class SumLayer(MessagePassing):
    """A layer as users write them: L2-normalised inputs, a sum, and the node itself."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(aggr="add")
        self.lin = nn.Linear(inputs, outputs)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = self.lin(F.normalize(x, p=2, dim=-1))
        return self.propagate(edge_index, x=x) + x


class CustomNet(nn.Module):
    """Three custom layers of width 64 and a mean, untrained."""

    def __init__(self, features: int) -> None:
        super().__init__()
        torch.manual_seed(0)
        widths = [features, 64, 64, 64]
        self.convs = nn.ModuleList([SumLayer(*widths[i : i + 2]) for i in range(3)])
        self.head = nn.Linear(64, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        for conv in self.convs:
            x = conv(x, edge_index).relu()
        return self.head(global_mean_pool(x, batch))


def competitors(model: Any, graphs: list[Data]) -> dict[str, Callable[[], Any]]:
    """Return what is timed, by name."""
    batches = candidate_batches(model, graphs)
    return {
        "slow twin": lambda: [explain_slowly(model, graph) for graph in graphs],
        "bare forward": lambda: bare_forward(model, batches),
        "batched, one graph at a time": lambda: [
            explain(model, graph, engine="batched", **WHOLE) for graph in graphs
        ],
        "batched, data set": lambda: list(
            explain_dataset(model, graphs, engine="batched", **WHOLE)
        ),
        "incremental, one graph at a time": lambda: [
            explain(model, graph, engine="incremental", **WHOLE) for graph in graphs
        ],
        "incremental, data set": lambda: list(
            explain_dataset(model, graphs, engine="incremental", **WHOLE)
        ),
        "auto, one graph at a time": lambda: [explain(model, graph, **WHOLE) for graph in graphs],
        "auto, data set": lambda: list(explain_dataset(model, graphs, **WHOLE)),
    }


def competitors_of_one(model: Any, molecules: list[Data]) -> dict[str, Callable[[], Any]]:
    """Return what is timed on molecules of thirty bonds; `explain` after its first call."""
    every, at_hand = competitors(model, molecules), "auto, one graph at a time"
    known = {name: every[name] for name in ("slow twin", "bare forward")}
    return {**known, "auto, 30 bonds, one at a time": every[at_hand]}


@torch.inference_mode()
def explain_slowly(model: Any, graph: Data) -> twin.Answer:
    """Explain one graph with the slow twin."""

    def predict(data: Data) -> torch.Tensor:
        batch = torch.zeros(data.num_nodes, dtype=torch.long)
        return model(data.x, data.edge_index, batch)[0]

    return twin.explain(predict, graph, twin.Asked(int(predict(graph).argmax())), **WHOLE)


@torch.inference_mode()
def bare_forward(model: Any, batches: list[Batch]) -> None:
    """Run the model alone over candidates that are built already."""
    for batch in batches:
        model(batch.x, batch.edge_index, batch.batch)


def candidate_batches(model: Any, graphs: Sequence[Data]) -> list[Batch]:
    """Return every candidate of the explanations, as the batched engine would build them."""
    run = Predictor(model, Options(engine="batched", **WHOLE))
    explanations = explain_dataset(model, graphs, engine="batched", **WHOLE)
    with eval_mode(model):
        instances = run.predict([Instance(graph) for graph in graphs])
    requests = []
    for instance, found in zip(instances, explanations, strict=True):
        sizes = found.curve.size.tolist()
        candidate_sets = [
            LeaveOneOut(instance.groups.count),
            Prefixes(found.order, sizes),
            Complements(found.order, sizes),
        ]
        requests += [Request(instance, candidate_set) for candidate_set in candidate_sets]
    return [
        to_batch([union(part) for part in batch], run.model_call.needs)
        for batch in run.evaluator.batched._batches(requests)
    ]


def union(part: Chunk) -> UnionPart:
    """Return some candidates of a request as a disjoint union."""
    instance, candidate_set = part.request.instance, part.request.candidate_set
    return extract(instance, candidate_set.rows(part.start, part.stop), candidate_set.subgraph_kind)


def measure(
    conv: str, runs: dict[str, Callable[[], Any]], repeats: int, graphs: int
) -> list[dict[str, Any]]:
    """Return a row for each competitor."""
    times, rows = interleaved(runs, repeats), []
    for name, (cpu, wall) in times.items():
        row = {
            "model": conv,
            "what": name,
            "graphs": graphs,
            "cpu_ms_per_graph": round(1e3 * cpu / graphs, 4),
            "wall_ms_per_graph": round(1e3 * wall / graphs, 4),
            "times_the_twin": round(times["slow twin"][0] / cpu, 2),
            "of_bare_forward": round(cpu / times["bare forward"][0], 3),
        }
        rows.append(row)
        print(*row.values(), sep="\t", flush=True)
    return rows


def main() -> None:
    """Measure, print and write the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    graphs = [graph for graph in datasets.load("Mutagenicity") if graph.num_edges > 4]
    graphs = graphs[: options.graphs]
    rows = []
    models = {conv: zoo.load("Mutagenicity", conv)[0].eval() for conv in ("gcn", "gin")}
    models["custom sum"] = CustomNet(graphs[0].num_node_features).eval()
    for conv, model in models.items():
        rows += measure(conv, competitors(model, graphs), options.repeats, len(graphs))
        alone = [graph for graph in graphs if graph.num_edges in THIRTY]
        of_one = measure(conv, competitors_of_one(model, alone), options.repeats, len(alone))
        rows.append(of_one[-1])
    print(write("engines", rows))


if __name__ == "__main__":
    main()
