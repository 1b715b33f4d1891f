"""Find counterfactuals for `eigsearch explain --flip`, and print them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eigsearch.cli.console import print_json, print_line, print_table
from eigsearch.cli.explain_run import Selection
from eigsearch.counterfactual.api import flip
from eigsearch.counterfactual.explanation import FlipExplanation
from eigsearch.datasets import GraphDataset
from eigsearch.options import Options

_SHARED = ("task", "return_type", "forward", "groups", "engine", "max_batch_nodes", "max_memory")


def print_flips(
    dataset: GraphDataset, model: Any, options: Options, selection: Selection, as_json: bool
) -> None:
    """Print what changes each of the selected predictions, as a table or as JSON."""
    found = list(_flips(dataset, model, options, selection))
    flipped = [answer for _, answer in found if answer.flipped]
    sizes = [answer.size for answer in flipped]
    mean = sum(sizes) / len(sizes) if sizes else float("nan")
    if as_json:
        answers = [{"index": number, **_line(answer)} for number, answer in found]
        print_json(
            {
                "count": len(found),
                "flipped": len(flipped),
                "size": mean if sizes else None,
                "answers": answers,
            }
        )
        return
    rows = [[number, answer.size, answer.sentence()] for number, answer in found]
    print_table(f"{dataset.name}: what changes the prediction", ["#", "size", "answer"], rows)
    summary = f"{len(flipped)} of {len(found)} predictions flipped"
    print_line(f"{summary}, by {mean:.1f} edges on average." if sizes else f"{summary}.")


def _flips(
    dataset: GraphDataset, model: Any, options: Options, selection: Selection
) -> Iterator[tuple[int, FlipExplanation]]:
    """Yield the number of each selected graph or node, and the answer for it."""
    shared = {name: getattr(options, name) for name in _SHARED}
    nodes = selection.node
    for number in (selection.index if nodes is None else nodes) or ():
        data = dataset[number if nodes is None else 0]
        node = None if nodes is None else number
        answer = flip(model, data, node=node, **shared)
        assert isinstance(answer, FlipExplanation)
        yield number, answer


def _line(answer: FlipExplanation) -> dict[str, Any]:
    return {
        "flipped": answer.flipped,
        "size": answer.size,
        "removed": answer.removed.t().tolist(),
        "prediction": answer.prediction,
        "prediction_after": answer.prediction_after,
        "value": answer.value,
        "value_after": answer.value_after,
        "sentence": answer.sentence(),
    }
