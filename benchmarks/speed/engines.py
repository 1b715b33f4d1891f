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
from tests.reference import twin
from torch_geometric.data import Batch, Data

from benchmarks.speed.timing import interleaved, write
from eigsearch import datasets, explain, explain_dataset
from eigsearch.candidates import Complements, LeaveOneOut, Prefixes
from eigsearch.engines.batched.disjoint_union import UnionPart, extract, to_batch
from eigsearch.engines.request import Chunk, Request
from eigsearch.inference.eval_mode import eval_mode
from eigsearch.inputs.instance import Instance
from eigsearch.models import zoo
from eigsearch.options import Options
from eigsearch.pipeline import Pipeline

WHOLE: dict[str, Any] = {"sparsity": 0.0}  # the whole sweep: sizes 2 to |E| − 1


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
        "auto, data set": lambda: list(explain_dataset(model, graphs, **WHOLE)),
    }


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
    run = Pipeline(model, Options(engine="batched", **WHOLE))
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
    for conv in ("gcn", "gin"):
        model = zoo.load("Mutagenicity", conv)[0].eval()
        times = interleaved(competitors(model, graphs), options.repeats)
        for name, (cpu, wall) in times.items():
            row = {
                "model": conv,
                "what": name,
                "graphs": len(graphs),
                "cpu_ms_per_graph": round(1e3 * cpu / len(graphs), 4),
                "wall_ms_per_graph": round(1e3 * wall / len(graphs), 4),
                "times_the_twin": round(times["slow twin"][0] / cpu, 2),
                "of_bare_forward": round(cpu / times["bare forward"][0], 3),
            }
            rows.append(row)
            print(*row.values(), sep="\t", flush=True)
    print(write("engines", rows))


if __name__ == "__main__":
    main()
