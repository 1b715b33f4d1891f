"""Bad input gets one clear sentence, and nothing else happens."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data

import eigsearch
from eigsearch.errors import EigsearchError, InputError, ModelError
from eigsearch.inputs.validation import validate_graphs
from tests.nets import house, make_net

SENTENCE = re.compile(r"^Expected .+ \(got .+\)\. [A-Z].+[.)]$", re.DOTALL)


def plain() -> Data:
    data = house()
    return Data(x=data.x, edge_index=data.edge_index)


class Counting(nn.Module):
    """A sound graph model that counts how often it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.net, self.calls = make_net(), 0

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        self.calls += 1
        return self.net(x, edge_index, batch=batch)


def refusal(
    kind: type[EigsearchError], model: Any, data: Any, words: str, **options: Any
) -> EigsearchError:
    """Return the error, after checking that it is one sentence of the house and holds the words."""
    with pytest.raises(kind) as caught:
        eigsearch.explain(model, data, **options)
    message = str(caught.value)
    assert SENTENCE.match(message), message
    assert words in message
    return caught.value


def changed(**attributes: Any) -> Data:
    data = plain()
    for name, value in attributes.items():
        data[name] = value
    return data


def with_entry(value: float) -> Tensor:
    x = plain().x.clone()
    x[3, 1] = value
    return x


GRAPHS = {
    "NaN features": (InputError, changed(x=with_entry(float("nan"))), "`x`"),
    "infinite features": (InputError, changed(x=with_entry(float("inf"))), "`x`"),
    "NaN weights": (InputError, changed(edge_weight=torch.full((18,), float("nan"))), "weight"),
    "NaN edge features": (InputError, changed(edge_attr=torch.full((18, 2), float("nan"))), "attr"),
    "NaN positions": (InputError, changed(pos=torch.full((9, 3), float("nan"))), "`pos`"),
    "infinite positions": (InputError, changed(pos=torch.full((9, 3), float("-inf"))), "`pos`"),
    "a node too many": (InputError, changed(edge_index=torch.tensor([[0], [9]])), "0 to 8"),
    "a negative node": (InputError, changed(edge_index=torch.tensor([[0], [-1]])), "-1 to 0"),
    "three rows": (InputError, changed(edge_index=torch.ones(3, 2).long()), "[3, 2]"),
    "one row": (InputError, changed(edge_index=torch.ones(4).long()), "[4]"),
    "float edges": (InputError, changed(edge_index=torch.zeros(2, 3)), "float32"),
    "a list of edges": (InputError, changed(edge_index=[[0, 1], [1, 0]]), "[2, E]"),
    "no edges": (InputError, Data(x=torch.ones(3, 5)), "edge_index"),
    "no features": (InputError, Data(edge_index=plain().edge_index), "`x`"),
    "no nodes": (
        InputError,
        Data(x=torch.ones(0, 5), edge_index=torch.zeros(2, 0).long()),
        "one node",
    ),
    "a Batch": (InputError, Batch.from_data_list([plain(), plain()]), "Batch of 2"),
    "a tensor": (InputError, torch.ones(3, 3), "Tensor"),
    "None": (InputError, None, "NoneType"),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_validate_graphs_invalid_graph_raises_before_the_model_is_called(name: str) -> None:
    kind, data, words = GRAPHS[name]
    model = Counting()
    refusal(kind, model, data, words)
    refusal(kind, model, data, words, node=0)
    assert model.calls == 0


OPTIONS = {
    "sparsity above": ({"sparsity": 1.0}, "`sparsity`"),
    "sparsity below": ({"sparsity": -0.1}, "`sparsity`"),
    "sparsity as text": ({"sparsity": "half"}, "`sparsity`"),
    "sparsity NaN": ({"sparsity": float("nan")}, "`sparsity`"),
    "sparsity as a bool": ({"sparsity": False}, "`sparsity`"),
    "min_size": ({"min_size": 0}, "`min_size`"),
    "min_size as a bool": ({"min_size": True}, "`min_size`"),
    "min_size as a share": ({"min_size": 2.5}, "`min_size`"),
    "groups": ({"groups": "rings"}, "`groups`"),
    "groups too short": ({"groups": torch.zeros(7).long()}, "18 directed edges"),
    "groups with two rows": ({"groups": torch.zeros(2, 18).long()}, "18 directed edges"),
    "groups as floats": ({"groups": torch.zeros(18)}, "float32"),
    "groups below -1": ({"groups": torch.full((18,), -2)}, "-2"),
    "return_type": ({"return_type": "logits"}, "`return_type`"),
    "task": ({"task": "link_prediction"}, "`task`"),
    "engine": ({"engine": "warp"}, "`engine`"),
    "max_batch_nodes": ({"max_batch_nodes": 0}, "`max_batch_nodes`"),
    "max_memory": ({"max_memory": 0}, "`max_memory`"),
    "search": ({"search": "deepest"}, "`search`"),
    "size with a search": ({"size": 4}, "`size`"),
    "size": ({"search": None, "size": 0}, "`size`"),
    "size as a bool": ({"search": None, "size": True}, "`size`"),
    "size as a share": ({"search": None, "size": 2.5}, "`size`"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_explain_invalid_option_raises_before_the_model_is_called(name: str) -> None:
    options, words = OPTIONS[name]
    model = Counting()
    refusal(InputError, model, plain(), words, **options)
    assert model.calls == 0


@pytest.mark.parametrize("node", [-1, 9])
def test_explain_node_that_does_not_exist_raises(node: int) -> None:
    refusal(InputError, make_net(pool=None), plain(), "0 to 8", node=node)


@pytest.mark.parametrize("target", [-1, 3])
def test_explain_class_that_does_not_exist_raises(target: int) -> None:
    refusal(InputError, make_net(), plain(), "0 to 2", target=target)


def test_explain_class_that_a_binary_model_lacks_raises() -> None:
    refusal(InputError, make_net(outputs=1), plain(), "0 to 1", target=2, task="binary")


def test_explain_output_that_a_regression_lacks_raises() -> None:
    refusal(InputError, make_net(outputs=2), plain(), "0 to 1", target=2, task="regression")
    refusal(InputError, make_net(outputs=2), plain(), "2 outputs", task="regression")


def test_explain_multiclass_task_for_one_column_raises() -> None:
    refusal(
        InputError, make_net(outputs=1), plain(), "two columns", task="multiclass_classification"
    )


@pytest.mark.parametrize("return_type", ["probs", "log_probs"])
def test_explain_model_that_does_not_return_what_was_said_raises(return_type: str) -> None:
    refusal(InputError, make_net(), plain(), return_type, return_type=return_type)


def test_explain_text_instead_of_a_model_raises() -> None:
    refusal(InputError, "gin.pt", plain(), "callable")


def test_explain_model_that_needs_what_the_graph_lacks_raises() -> None:
    class Needs(Counting):
        def forward(self, x: Tensor, edge_index: Tensor, charge: Tensor) -> Tensor:
            self.calls += 1
            return x

    model = Needs()
    refusal(InputError, model, plain(), "`charge`")
    refusal(InputError, model, plain(), "`charge`", node=1)
    assert model.calls == 0


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("node", [None, 2])
def test_outputs_that_are_no_numbers(value: float, node: int | None) -> None:
    net = make_net(pool="sum" if node is None else None)
    refusal(
        ModelError,
        lambda x, edge_index, batch: net(x, edge_index, batch=batch) * value,
        plain(),
        "finite",
        node=node,
    )


class Noisy(nn.Module):
    """Draws random numbers in evaluation mode too: one for each entry, or one for each call."""

    def __init__(self, node: int | None, per_call: bool) -> None:
        super().__init__()
        self.net = make_net(pool="sum" if node is None else None)
        self.per_call = per_call

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        out = self.net(x, edge_index, batch=batch)
        return out * (torch.rand(1) if self.per_call else torch.rand_like(out))


@pytest.mark.parametrize("node", [None, 2])
@pytest.mark.parametrize("per_call", [False, True])
def test_explain_stochastic_model_raises(node: int | None, per_call: bool) -> None:
    refusal(ModelError, Noisy(node, per_call), plain(), "same output twice", node=node)


def test_explain_model_that_returns_several_things_raises() -> None:
    refusal(ModelError, lambda x, edge_index, batch: (x, batch), plain(), "tuple")


@pytest.mark.parametrize("flat", [False, True])
def test_explain_node_model_without_a_node_raises(flat: bool) -> None:
    net = make_net(pool=None, outputs=1)

    def with_batch(x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return net(x, edge_index).squeeze(-1) if flat else net(x, edge_index)

    def without(x: Tensor, edge_index: Tensor) -> Tensor:
        return with_batch(x, edge_index, edge_index)

    refusal(ModelError, with_batch, plain(), "`node=`")
    refusal(ModelError, without, plain(), "`node=`")


def test_explain_graph_model_with_a_node_raises() -> None:
    refusal(ModelError, make_net(), plain(), "Leave `node` out", node=2)


def test_node_together_with_many_graphs() -> None:
    with pytest.raises(InputError, match="one graph together with `node`"):
        eigsearch.explain_dataset(make_net(pool=None), [plain(), plain()], node=[1])


@pytest.mark.parametrize("targets", [[0], [0, 1, 2], torch.tensor([1])])
def test_targets_that_do_not_match_the_graphs(targets: Any) -> None:
    dataset = [plain(), plain()]
    with pytest.raises(InputError) as caught:
        eigsearch.explain_dataset(make_net(), dataset, target=targets)
    assert SENTENCE.match(str(caught.value))
    with pytest.raises(InputError, match="as many as predictions"):
        list(eigsearch.explain_dataset(make_net(), iter(dataset), target=targets))


def test_explain_dataset_bad_graph_in_the_middle_raises_with_its_number() -> None:
    dataset = [plain(), changed(x=with_entry(float("nan"))), plain()]
    with pytest.raises(InputError, match="`x`"):
        list(eigsearch.explain_dataset(make_net(), dataset))


@pytest.mark.parametrize("name", ["edge_attr", "edge_weight"])
@pytest.mark.parametrize("rows", [1, 3, 50])
def test_attributes_of_edges_of_a_wrong_length_are_refused(name: str, rows: int) -> None:
    data = Data(x=torch.ones(3, 2), edge_index=torch.tensor([[0, 1], [1, 2]]))
    data[name] = torch.ones(rows)
    expected = rf"`{name}` to have one row for each of 2 edges \(got {rows}"
    with pytest.raises(InputError, match=expected):
        validate_graphs([data])
    data[name] = torch.ones(2)
    validate_graphs([data])
