"""A run that does not fit its directory is told apart in words, not in hashes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GCN, global_mean_pool

from eigsearch import Options, datasets
from eigsearch.errors import InputError
from eigsearch.parallel import DirectorySource, explain_to
from eigsearch.store.run_difference import run_difference

GRAPHS = datasets.generate("BA-2Motifs").graphs[:4]


class Net(nn.Module):
    """A network with a setting that no weight shows."""

    def __init__(self, scale: float = 1.0) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers, self.scale = GCN(10, 8, 2, 2), scale

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.scale * global_mean_pool(self.layers(x, edge_index), batch)


class Other(Net):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return super().forward(x, edge_index, batch) + 1


def heavier() -> Net:
    net = Net()
    nn.init.ones_(next(net.parameters()))
    return net


def changed(graphs: list[Data]) -> list[Data]:
    other = [graph.clone() for graph in graphs]
    other[-1].x = other[-1].x + 1
    return other


def refusal(out: Path, model: nn.Module, data: Any, **options: Any) -> str:
    with pytest.raises(InputError, match=r"already holds \(got another one: ") as refused:
        explain_to(out, model, data, **options)
    said = str(refused.value)
    assert not re.search(r"[0-9a-f]{12}", said), said
    return said


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (lambda: Net(2.0), "the model was built with other arguments or settings"),
        (heavier, "the model has other weights"),
        (Other, "the code of the model, or of what it calls, is another one"),
    ],
)
def test_another_model_is_refused_with_the_part_that_differs(
    tmp_path: Path, model: Callable[[], nn.Module], words: str
) -> None:
    explain_to(tmp_path / "out", Net(), GRAPHS)
    assert f"got another one: {words})." in refusal(tmp_path / "out", model(), GRAPHS)


def test_other_options_and_data_are_refused_with_both_values(tmp_path: Path) -> None:
    out = tmp_path / "out"
    explain_to(out, Net(), GRAPHS, options=Options(sparsity=0.5))
    said = refusal(out, Net(), changed(GRAPHS), options=Options(sparsity=0.7), seed=3)
    assert "option sparsity was 0.5, now it is 0.7; seed was 0, now it is 3; the data have" in said


def test_a_changed_file_of_a_directory_is_named_by_its_number(tmp_path: Path) -> None:
    folder = tmp_path / "graphs"
    folder.mkdir()
    for name, part in {"a": GRAPHS[:2], "b": GRAPHS[2:]}.items():
        datasets.save_file(part, folder / f"{name}.safetensors")
    explain_to(tmp_path / "out", Net(), DirectorySource(folder))
    datasets.save_file(changed(GRAPHS[2:]), folder / "b.safetensors")
    said = refusal(tmp_path / "out", Net(), DirectorySource(folder))
    assert "got another one: data file 2, in the order of names, has another content)" in said


def test_difference_of_equal_records_is_none_and_an_entry_may_stay_apart() -> None:
    before, now = {"config": {"ranker": "a" * 64}}, {"config": {"ranker": "b" * 64}}
    assert run_difference(before, before) is None
    assert run_difference(before, now, "config.ranker") is None
    assert run_difference(before, now) == "the ranker was trained otherwise, or holds other values"


def test_difference_of_many_entries_names_four_and_counts_the_rest() -> None:
    said = run_difference({"a": dict.fromkeys("uvwxyz", 0)}, {"a": dict.fromkeys("uvwxyz", 1)})
    assert said is not None
    assert said.count("was 0, now it is 1") == 4
    assert said.endswith("; and 2 more")
