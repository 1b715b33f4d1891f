"""The number of graphs of a file, without their tensors."""

import os

import pytest
import torch
from torch_geometric.data import Data, HeteroData

from eigsearch.datasets.graph_count import count_graphs


def graphs(count):
    pair = torch.tensor([[0, 1], [1, 0]])
    return [Data(x=torch.rand(2, 3), edge_index=pair, name=f"g{n}") for n in range(count)]


class Runs:
    """An object that creates a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("count", [1, 7])
def test_list_of_graphs_is_counted(tmp_path, count):
    torch.save(graphs(count), tmp_path / "graphs.pt")
    assert count_graphs(tmp_path / "graphs.pt") == count


@pytest.mark.parametrize(
    "content", [[], [1, 2], graphs(1)[0], {"a": 1}, [*graphs(2), HeteroData()], torch.ones(3)]
)
def test_other_content_is_left_to_the_reader(tmp_path, content):
    torch.save(content, tmp_path / "other.pt")
    assert count_graphs(tmp_path / "other.pt") is None


def test_broken_and_old_files_are_left_to_the_reader(tmp_path):
    path = tmp_path / "graphs.pt"
    torch.save(graphs(3), path, _use_new_zipfile_serialization=False)
    assert count_graphs(path) is None
    path.write_bytes(b"PK but no archive")
    assert count_graphs(path) is None
    assert count_graphs(tmp_path / "absent.pt") is None


def test_nothing_in_the_file_is_executed(tmp_path):
    torch.save([*graphs(1), Runs(tmp_path / "made")], tmp_path / "evil.pt")
    assert count_graphs(tmp_path / "evil.pt") is None
    assert not (tmp_path / "made").exists()
