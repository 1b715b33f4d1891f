"""Which share of predictions can be flipped, by how many edges, and in what time.

    python -m benchmarks.counterfactuals --graphs 100
    python -m benchmarks.counterfactuals MUTAG/gcn NCI1/gin    # these settings anew
    python -m benchmarks.counterfactuals --untrained           # all but RCExplainer anew

Predictions are those that the paper explains, drawn with a seed. Deletion and addition are
`eigsearch.flip_dataset`; an explainer's ranking counts as a counterfactual by its first edges whose
removal changes the prediction. Nodes stay in place, and at most twenty edges change, everywhere.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any

import torch

import eigsearch
from benchmarks.speed.timing import write
from eigsearch import explainers
from eigsearch.bench.run.setting import Prediction, Setting, load_setting
from eigsearch.candidates import Complements, SubgraphKind
from eigsearch.engines import Request
from eigsearch.inference.eval_mode import eval_mode
from eigsearch.options import Options
from eigsearch.pipeline import Pipeline

ROWS = Path(__file__).parent / "results" / "counterfactuals"
SETTINGS = (
    *(("MUTAG", "gcn"), ("Mutagenicity", "gcn"), ("Mutagenicity", "gin"), ("NCI1", "gin")),
    *(("BA-2Motifs", "gcn"), ("BA-2Motifs", "gin"), ("BA-Shapes", "gin"), ("Tree-Grid", "gin")),
)
METHODS = (
    *("deletion", "deletion + addition", "deletion + bonds that can be"),
    *("RCExplainer", "random order"),
)
MAX_SIZE = 20
_TRAINED_ON = 200  # graphs that RCExplainer learns from, about


def by_flip(setting: Setting, asked: Sequence[Prediction], **options: Any) -> list[int | None]:
    """Return the size of the smallest change for each prediction, None where none was found."""
    nodes = [each.node for each in asked if each.node is not None]
    if nodes:
        found = eigsearch.flip_dataset(setting.model, setting.dataset[0], node=nodes, **options)
    else:
        graphs = [setting.dataset[each.graph] for each in asked]
        found = eigsearch.flip_dataset(setting.model, graphs, **options)
    return [each.size if each.flipped else None for each in found]


def by_ranking(setting: Setting, asked: Sequence[Prediction], ranker: Any) -> list[int | None]:
    """Return how many first edges of a ranking have to go, None where twenty are not enough."""
    pipeline = Pipeline(setting.model, Options(ranker=ranker, search="fixed", size=1))
    return [_first_flip(pipeline, setting.instance(each)) for each in asked]


def _first_flip(pipeline: Pipeline, instance: Any) -> int | None:
    predictor = pipeline.predictor
    (ranked,) = pipeline.explain([instance])
    with eval_mode(predictor.model):
        (predicted,) = predictor.predict([instance])
        sizes = range(1, min(MAX_SIZE, predicted.groups.count - 1) + 1)
        without = Complements(ranked.order.cpu(), list(sizes), SubgraphKind.ALL_NODES)
        (outputs,) = predictor.evaluator.outputs([Request(predicted, without)])
    changed = (outputs.argmax(dim=1) != predicted.target.index).nonzero().flatten().tolist()
    return sizes[changed[0]] if changed else None


def methods(
    setting: Setting, train: bool
) -> Iterable[tuple[str, Callable[[Sequence[Prediction]], list[Any]]]]:
    """Yield each way to find counterfactuals, by name."""
    yield "deletion", lambda asked: by_flip(setting, asked, progress=False)
    yield "deletion + addition", lambda asked: by_flip(setting, asked, add=True, progress=False)
    names = setting.dataset.node_names
    if names is not None:
        bonds = {"atoms": names, "bonds": setting.dataset.edge_names}
        yield (
            "deletion + bonds that can be",
            lambda asked: by_flip(setting, asked, add=True, progress=False, **bonds),
        )
    chance = explainers.get("random", seed=0)
    yield "random order", lambda asked: by_ranking(setting, asked, chance)
    if not train:
        return
    trained = explainers.get("rcexplainer", seed=0)
    step = max(1, len(setting.dataset) // _TRAINED_ON)  # of all classes
    nodes = setting.explained_nodes() and range(0, int(setting.dataset[0].num_nodes), 5)
    trained.fit(setting.model, setting.dataset.graphs[::step], nodes=nodes)
    yield "RCExplainer", lambda asked: by_ranking(setting, asked, trained)


def measure(dataset: str, conv: str, count: int, train: bool = True) -> list[dict[str, Any]]:
    """Return a row for each way to find counterfactuals in one setting."""
    setting = load_setting(dataset, conv)
    asked = setting.sample(count, seed=0)
    rows = []
    for name, find in methods(setting, train):
        began = time.process_time()
        found = find(asked)
        seconds = time.process_time() - began
        sizes = [size for size in found if size is not None]
        rows.append(
            {
                "dataset": dataset,
                "model": conv,
                "predictions": len(found),
                "method": name,
                "max_size": MAX_SIZE,
                "flipped": round(len(sizes) / len(found), 4),
                "mean_size": round(mean(sizes), 3) if sizes else "",
                "median_size": median(sizes) if sizes else "",
                "cpu_ms": round(1000 * seconds / len(found), 2),
            }
        )
        print(*rows[-1].values(), sep="\t", flush=True)
    return rows


def update(rows: Sequence[dict[str, Any]]) -> Path:
    """Write rows in the place of those of the same settings and methods, in their order."""
    found = [{key: str(value) for key, value in row.items()} for row in rows]
    path = ROWS / "flips.csv"
    if path.exists():
        with path.open(newline="") as file:
            before = list(csv.DictReader(file))
        renewed = {_key(row) for row in found}
        columns = list(rows[0])
        found += [{key: row[key] for key in columns} for row in before if _key(row) not in renewed]
    order = {each: number for number, each in enumerate(SETTINGS)}
    found.sort(key=lambda row: (order[row["dataset"], row["model"]], METHODS.index(row["method"])))
    return write("flips", found, ROWS)


def _key(row: dict[str, str]) -> tuple[str, str, str]:
    return row["dataset"], row["model"], row["method"]


def main() -> None:
    """Measure settings, print the rows and write them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    every = ["/".join(each) for each in SETTINGS]
    parser.add_argument("settings", nargs="*", default=every)
    parser.add_argument("--graphs", type=int, default=100)
    parser.add_argument("--untrained", action="store_true", help="leave RCExplainer's rows")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for each in arguments.settings:
        dataset, conv = each.split("/")
        print(update(measure(dataset, conv, arguments.graphs, not arguments.untrained)))


if __name__ == "__main__":
    main()
