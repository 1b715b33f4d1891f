import os
import pickle
from pathlib import Path

import pytest
import torch
from torch_geometric.data import Data, HeteroData

from eigsearch import datasets
from eigsearch.errors import InputError


def graph(**changes) -> Data:
    fields = {"x": torch.ones(3, 2), "edge_index": torch.tensor([[0, 1], [1, 0]])}
    return Data(**(fields | {"y": torch.tensor([1])} | changes))


def typed_graph() -> HeteroData:
    data = HeteroData()
    data["user"].x, data["item"].x = torch.ones(3, 2), torch.ones(4, 5)
    data["user", "buys", "item"].edge_index = torch.tensor([[0, 1, 2], [0, 3, 3]])
    return data


class Malicious:
    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self):
        return Path.write_text, (self.target, "owned")


def test_graphs_come_back_as_they_were_saved(tmp_path):
    original = datasets.generate("BA-2Motifs")
    datasets.save_file(original, tmp_path / "mine.pt")
    loaded = datasets.load_file(tmp_path / "mine.pt")
    assert loaded.digest == original.digest
    assert torch.equal(loaded[3].edge_label, original[3].edge_label)
    assert (loaded.name, loaded.task, loaded.num_classes) == ("mine", "graph", 2)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.pt"]


def test_plain_torch_save_of_one_graph_is_a_node_set_if_nodes_have_classes(tmp_path):
    torch.save(graph(y=torch.tensor([0, 2, 1])), tmp_path / "one.pt")
    dataset = datasets.load_file(tmp_path / "one.pt")
    assert (dataset.task, len(dataset), dataset.num_classes) == ("node", 1, 3)
    assert datasets.load_file(tmp_path / "one.pt", task="graph").task == "graph"


@pytest.mark.parametrize("save", [torch.save, lambda data, path: datasets.save_file([data], path)])
def test_typed_graph_comes_back_with_the_type_that_has_classes(save, tmp_path):
    data, path = typed_graph(), tmp_path / "shop.pt"
    save(data, path)
    loaded = datasets.load_file(path)
    assert (loaded.task, loaded.is_typed, loaded.target_type) == ("graph", True, None)
    assert loaded[0].node_types == data.node_types
    assert torch.equal(loaded[0]["user", "buys", "item"].edge_index, data["buys"].edge_index)
    data["item"].y = torch.tensor([0, 1, 2, 1])
    save(data, path)
    loaded = datasets.load_file(path)
    assert (loaded.task, loaded.target_type, loaded.num_classes) == ("node", "item", 3)
    data["user", "buys", "item"].edge_label_index = torch.tensor([[0], [1]])
    save(data, path)
    assert datasets.load_file(path, task="link").target_type == ("user", "item")


def test_typed_graphs_that_are_none_are_told_in_a_sentence(tmp_path):
    path = tmp_path / "shop.pt"
    data = typed_graph()
    data["buys"].edge_index[1, 0] = 9
    torch.save([typed_graph(), data], path)
    with pytest.raises(InputError, match=r"nodes of type item from 0 to 3 .*graph 1 of .*shop\.pt"):
        datasets.load_file(path)
    del data.__dict__["_edge_store_dict"]
    torch.save(data, path)
    with pytest.raises(InputError, match=r"graph 0 of .*shop\.pt to have nodes and edges by type"):
        datasets.load_file(path)
    with pytest.raises(InputError, match=r"in a file that ends in \.pt"):
        datasets.save_file([typed_graph()], tmp_path / "shop.safetensors")
    torch.save([typed_graph(), Malicious(tmp_path / "owned")], path)
    with pytest.raises(InputError, match="run code"):
        datasets.load_file(path)


def test_a_graph_without_attributes_is_told_in_a_sentence(tmp_path):
    data = graph()
    data.__dict__["_store"] = None
    torch.save(data, tmp_path / "bare.pt")
    with pytest.raises(InputError, match=r"graph 0 of .*bare\.pt .* long `edge_index`"):
        datasets.load_file(tmp_path / "bare.pt")


@pytest.mark.parametrize("make", [graph, typed_graph])
@pytest.mark.parametrize("wrap", [lambda value: value, lambda value: {"inner": value}])
def test_a_graph_among_its_own_attributes_is_refused(make, wrap, tmp_path):
    """No text of it, and so no digest, would come to an end."""
    whole, endless = make(), make()
    whole.part, endless.part = wrap(make()), wrap(endless)
    torch.save(whole, tmp_path / "whole.pt")
    assert len(datasets.load_file(tmp_path / "whole.pt").digest) == 64
    torch.save(endless, tmp_path / "endless.pt")
    with pytest.raises(InputError, match=r"graph 0 of .*endless\.pt .*among its own attributes"):
        datasets.load_file(tmp_path / "endless.pt")


def test_graphs_without_classes_are_welcome(tmp_path):
    datasets.save_file([graph(y=None), graph(y=None)], tmp_path / "plain.pt")
    dataset = datasets.load_file(tmp_path / "plain.pt")
    assert (dataset.num_classes, dataset.class_names) == (0, ())
    assert len(dataset.digest) == 64
    datasets.save_file([graph(y=torch.ones(1) * 1j), graph(y="a")], tmp_path / "odd.pt")
    assert datasets.load_file(tmp_path / "odd.pt").num_classes == 0


@pytest.mark.parametrize(
    "save", [torch.save, lambda thing, path: path.write_bytes(pickle.dumps(thing))]
)
def test_a_malicious_file_is_refused_and_nothing_of_it_runs(save, tmp_path):
    save([graph(), Malicious(tmp_path / "owned")], tmp_path / "evil.pt")
    with pytest.raises(InputError, match="run code"):
        datasets.load_file(tmp_path / "evil.pt")
    assert [path.name for path in tmp_path.iterdir()] == ["evil.pt"]


def test_torch_s_safe_list_is_left_as_it_was(tmp_path):
    before = set(torch.serialization.get_safe_globals())
    assert Data in before  # PyG's own entry, which its data sets need
    datasets.save_file([graph()], tmp_path / "mine.pt")
    datasets.load_file(tmp_path / "mine.pt")
    assert set(torch.serialization.get_safe_globals()) == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "at least one graph"),
        ([torch.ones(2)], "a PyG `Data` .got Tensor"),
        ({"a": 1}, "a PyG `Data` .got dict"),
        ([graph(), graph(edge_index=None)], "graph 1 .* long `edge_index`"),
        ([graph(edge_index=torch.zeros(3, 2, dtype=torch.long))], "two rows .got 3"),
        ([graph(edge_index=torch.tensor([[0], [7]]))], "3 nodes .got node 7"),
        ([graph(edge_index=torch.tensor([[0], [-1]]))], "3 nodes .got node -1"),
        ([graph(num_nodes=torch.tensor([1, 2]))], "a number of nodes .got RuntimeError"),
        ([graph(x=torch.tensor(1.0))], "a number of nodes .got IndexError"),
    ],
)
def test_a_wrong_content_is_told_in_one_sentence(content, message, tmp_path):
    torch.save(content, tmp_path / "wrong.pt")
    with pytest.raises(InputError, match=message):
        datasets.load_file(tmp_path / "wrong.pt")


def test_missing_and_broken_files_are_told_apart(tmp_path):
    with pytest.raises(InputError, match="data file to exist"):
        datasets.load_file(tmp_path / "none.pt")
    (tmp_path / "text.pt").write_text("x,y\n1,2\n")
    with pytest.raises(InputError, match=r"text\.pt"):
        datasets.load_file(tmp_path / "text.pt")


def test_a_failed_save_leaves_the_old_file(tmp_path):
    datasets.save_file([graph()], tmp_path / "mine.pt")
    with pytest.raises((pickle.PicklingError, AttributeError, TypeError)):
        datasets.save_file([lambda: None], tmp_path / "mine.pt")
    assert len(datasets.load_file(tmp_path / "mine.pt")) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["mine.pt"]


def test_load_file_of_a_huge_label_makes_no_class_names(tmp_path):
    torch.save([graph(y=torch.tensor([2**62]))], tmp_path / "huge.pt")
    assert datasets.load_file(tmp_path / "huge.pt").num_classes == 0


def test_load_file_of_a_pipe_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe.pt")
    with pytest.raises(InputError, match="got a pipe or a device"):
        datasets.load_file(tmp_path / "pipe.pt")
