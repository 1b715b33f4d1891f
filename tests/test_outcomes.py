"""One prediction that fails costs none of the others, and is named."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pytest
import torch
from torch_geometric.data import Data

import eigsearch
from eigsearch import FailedExplanation, SubgraphExplanation
from eigsearch.datasets import generate
from eigsearch.errors import InputError, ModelError
from tests.parallel.networks import Choosy, Small

GRAPHS = generate("BA-2Motifs").graphs[490:500]


def graphs_with(*bad: int) -> list[Data]:
    """Graphs of which some have a feature that the model refuses."""
    graphs = [graph.clone() for graph in GRAPHS]
    for number in bad:
        graphs[number].x = -graphs[number].x
    return graphs


def masks(found: list) -> list[list[bool]]:
    return [each.edge_mask.tolist() for each in found]


@pytest.mark.parametrize("workers", [None, 1])
def test_explain_dataset_raises_after_the_explanations_before_the_failure(
    workers: int | None,
) -> None:
    found = []
    stream = eigsearch.explain_dataset(Choosy(), graphs_with(4, 8), workers=workers)
    with pytest.raises(ModelError, match=r"take graph 4 of the data set \(got RuntimeError: I do"):
        found.extend(stream)
    expected = list(eigsearch.explain_dataset(Choosy(), GRAPHS[:4]))
    assert masks(found) == masks(expected)


@pytest.mark.parametrize("workers", [None, 1])
def test_explain_dataset_skips_failures_and_says_why(workers: int | None) -> None:
    stream = eigsearch.explain_dataset(
        Choosy(), graphs_with(4, 8), workers=workers, on_error="skip"
    )
    found = list(stream)
    failed = {n: each for n, each in enumerate(found) if isinstance(each, FailedExplanation)}
    assert list(failed) == [each.index for each in failed.values()] == [4, 8]
    assert failed[4].reason == "RuntimeError: I do not like this graph"
    assert failed[4].error is ModelError
    assert sum(isinstance(each, SubgraphExplanation) for each in found) == 8


def test_explain_dataset_names_the_graph_of_an_error_of_its_own() -> None:
    graphs = [graph.clone() for graph in GRAPHS]
    graphs[6].edge_index = torch.tensor([[0], [99]])
    with pytest.raises(InputError, match=r"^Expected .*That was graph 6 of the data set\.$"):
        list(eigsearch.explain_dataset(Small(), graphs))


def test_explain_dataset_names_the_graph_whose_features_do_not_fit() -> None:
    graphs = [*GRAPHS[:3], Data(x=torch.ones(4, 7), edge_index=torch.tensor([[0, 1], [1, 2]]))]
    with pytest.raises(ModelError, match="graph 3 of the data set") as caught:
        list(eigsearch.explain_dataset(Small(), graphs))
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_explain_dataset_yields_what_came_before_a_graph_that_cannot_be_read() -> None:
    def reading() -> Iterator[Data]:
        yield from GRAPHS[:3]
        raise OSError("the disk is gone")

    found = []
    with pytest.raises(OSError, match="the disk is gone"):
        found.extend(eigsearch.explain_dataset(Small(), reading()))
    assert len(found) == 3


def test_explain_dataset_reads_no_more_graphs_than_it_needs() -> None:
    read = []

    def reading() -> Iterator[Data]:
        for number in range(10**6):
            read.append(number)
            yield GRAPHS[number % 10]

    assert len(list(islice(eigsearch.explain_dataset(Small(), reading()), 3))) == 3
    assert len(read) <= 128


def test_explain_dataset_takes_known_ways_to_treat_failures_only() -> None:
    with pytest.raises(InputError, match=r"`on_error` to be one of raise, skip \(got 'ignore'\)"):
        eigsearch.explain_dataset(Small(), GRAPHS, on_error="ignore")


@pytest.mark.parametrize(("progress", "shown"), [(True, True), (False, False), (None, False)])
def test_explain_dataset_shows_a_bar_where_it_is_asked_to(
    progress: bool | None, shown: bool, capsys: pytest.CaptureFixture, monkeypatch
) -> None:
    monkeypatch.setattr("eigsearch._utils.progress_bar._DELAY", 0)
    found = list(eigsearch.explain_dataset(Small(), GRAPHS, progress=progress))
    output = capsys.readouterr()
    assert len(found) == 10
    assert ("/10 [" in output.err) == shown
    assert output.out == ""
