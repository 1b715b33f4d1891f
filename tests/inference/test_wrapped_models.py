"""Models inside others: what a wrapper passes on is called by the names of what it wraps."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel
from torch_geometric.data import Data
from torch_geometric.explain import Explainer
from torch_geometric.nn import Sequential

import eigsearch
from eigsearch._utils.fingerprint import model_digest
from eigsearch.errors import InputError
from tests.nets import house, make_net


def plain() -> Data:
    data = house()
    return Data(x=data.x, edge_index=data.edge_index)


class Model(nn.Module):
    """Scales what a network says, and drops features while training."""

    def __init__(self) -> None:
        super().__init__()
        self.net, self.drop = make_net(), nn.Dropout(0.5)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor, scale: float = 1.0) -> Tensor:
        return scale * self.net(self.drop(x), edge_index, batch=batch)


class Shell(nn.Module):
    """Passes everything on."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        return self.module(*args, **kwargs)


WRAPPERS = {
    "shell": Shell,
    "data parallel": nn.DataParallel,
    "average": AveragedModel,
    "partial": partial,
    "partial of a shell": lambda model: partial(Shell(Shell(model))),
}


@pytest.mark.parametrize("name", WRAPPERS)
def test_model_call_wrapped_model_explains_as_it_does_alone(name: str) -> None:
    model = Model()
    model.train()
    expected = eigsearch.explain(model, plain())
    ex = eigsearch.explain(WRAPPERS[name](model), plain())
    assert torch.equal(ex.edge_mask, expected.edge_mask)
    torch.testing.assert_close(ex.edge_score, expected.edge_score)
    assert model.drop.training


def test_model_call_bound_arguments_stay_bound() -> None:
    data = plain()
    data.scale = 5.0
    model = Model().eval()
    expected = eigsearch.explain(lambda x, edge_index, batch: model(x, edge_index, batch), plain())
    ex = eigsearch.explain(partial(model, scale=1.0), data)
    torch.testing.assert_close(ex.edge_score, expected.edge_score)

    def call(model: nn.Module, data: Data) -> Tensor:
        return model(data.x, data.edge_index, data.batch)

    ex = eigsearch.explain(partial(call, model), plain())
    torch.testing.assert_close(ex.edge_score, expected.edge_score)


def test_model_digest_weights_of_wrapped_models_are_told_apart() -> None:
    first, second = Model(), Model()
    assert model_digest(partial(first)) == model_digest(partial(first))
    with torch.no_grad():
        next(second.parameters()).add_(1)
    assert model_digest(partial(first)) != model_digest(partial(second))


def traced(data: Data) -> Any:
    batch = torch.zeros(data.num_nodes, dtype=torch.long)
    return torch.jit.trace(Model().eval(), (data.x, data.edge_index, batch))


def test_model_call_model_that_names_no_arguments_needs_a_forward() -> None:
    data, model = plain(), Model().eval()
    for nameless in (traced(data), lambda *args, **kwargs: model(*args, **kwargs)):
        with pytest.raises(InputError, match="`forward=lambda model, batch: …`"):
            eigsearch.explain(nameless, data)
        ex = eigsearch.explain(
            nameless,
            data,
            forward=lambda m, batch: m(batch.x, batch.edge_index, batch.batch),
            max_batch_nodes=1,  # a trace knows batches of the one size that it has seen
        )
        assert torch.equal(ex.edge_mask, eigsearch.explain(model, data).edge_mask)


@pytest.mark.parametrize("wrap", [nn.DataParallel, lambda model: traced(plain())])
def test_eigsearch_wrapped_models_work_in_the_explainer_of_pyg(wrap: Any) -> None:
    data = plain()
    explainer = Explainer(
        wrap(Model()),
        eigsearch.EiGSearch(max_batch_nodes=1),
        explanation_type="model",
        edge_mask_type="object",
        model_config={
            "mode": "multiclass_classification",
            "task_level": "graph",
            "return_type": "raw",
        },
    )
    batch = torch.zeros(data.num_nodes, dtype=torch.long)
    expected = eigsearch.explain(Model(), data)
    found = explainer(data.x, data.edge_index, batch=batch)
    assert torch.equal(found.edge_mask.bool(), expected.edge_mask)


def test_model_call_sequential_of_pyg_says_by_itself_what_it_takes() -> None:
    """Its forward takes anything; the names are in its description."""
    net, nodes = make_net(), make_net(pool=None)
    pooled = lambda x, edge_index, batch: net(x, edge_index, batch=batch)  # noqa: E731
    chain = Sequential("x, edge_index, batch", [(pooled, "x, edge_index, batch -> x"), nn.ReLU()])
    named = Sequential("x, edge_index", [(nodes, "x, edge_index -> x"), nn.Identity()])
    flat = lambda x, edge_index, batch: pooled(x, edge_index, batch).relu()  # noqa: E731
    for model, alone, node in [(chain, flat, None), (named, nodes, 2)]:
        options: dict[str, Any] = {"node": node, "return_type": "raw"}
        expected = eigsearch.explain(alone, plain(), **options)
        torch.testing.assert_close(
            eigsearch.explain(model, plain(), **options).edge_score, expected.edge_score
        )
