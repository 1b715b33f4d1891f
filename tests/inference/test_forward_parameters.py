from __future__ import annotations

import inspect
from functools import partial
from types import MethodType
from typing import Any

import pytest
import torch
from torch import nn

from eigsearch.errors import InputError
from eigsearch.inference.forward_parameters import (
    checked_parameters,
    chosen_parameters,
    parameters_of,
    takes_object,
    unwrap_partial,
)


class Net(nn.Module):
    def forward(self, x: Any, edge_index: Any, edge_attr: Any = None, batch: Any = None) -> Any:
        return x


NAMES = ["x", "edge_index", "edge_attr", "batch"]


@pytest.mark.parametrize(
    "model", [Net(), nn.DataParallel(Net()), torch.compile(Net()), partial(Net())]
)
def test_parameters_of_a_wrapped_model_are_those_of_the_model(model: Any) -> None:
    assert list(parameters_of(model)) == NAMES


def test_parameters_of_a_partial_are_those_that_are_free() -> None:
    model = Net()
    assert list(parameters_of(partial(model, edge_attr=1))) == ["x", "edge_index", "batch"]
    assert list(parameters_of(partial(model.forward, 0))) == NAMES[1:]
    assert unwrap_partial(partial(partial(model, batch=1), edge_attr=1)) is model


def test_parameters_of_a_forward_that_was_changed_are_those_of_now(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def other(self: Any, x: Any, edge_index: Any, *, scale: Any = 1) -> Any:
        return x

    model = Net()
    assert list(parameters_of(model)) == NAMES
    monkeypatch.setattr(Net.forward, "__defaults__", ())
    assert parameters_of(model)["batch"].default is inspect.Parameter.empty
    monkeypatch.setattr(Net.forward, "__wrapped__", other, raising=False)
    assert list(parameters_of(model)) == ["x", "edge_index", "scale"]
    monkeypatch.delattr(Net.forward, "__wrapped__")
    monkeypatch.setattr(Net.forward, "__code__", other.__code__)
    assert list(parameters_of(model)) == ["x", "edge_index", "scale"]
    model.forward = MethodType(other, model)  # type: ignore[method-assign]
    assert parameters_of(model)["scale"].default == 1


def test_parameters_of_a_method_may_be_changed_by_who_gets_them() -> None:
    parameters_of(Net()).clear()
    assert list(parameters_of(Net())) == NAMES


def test_parameters_of_a_builtin_are_not_known() -> None:
    assert parameters_of(max) == {}


def test_checked_parameters_of_a_forward_without_names_raises() -> None:
    with pytest.raises(InputError, match="to name its arguments"):
        checked_parameters(lambda *args: args)


def test_chosen_parameters_keep_the_chosen_and_those_for_batching() -> None:
    parameters = parameters_of(Net())
    assert list(chosen_parameters(parameters, ["x", "edge_index"])) == ["x", "edge_index", "batch"]
    assert list(chosen_parameters(parameters, "edge_attr")) == ["edge_attr", "batch"]
    with pytest.raises(InputError, match=r"\(got pos\)"):
        chosen_parameters(parameters, ["x", "pos"])


def test_takes_object_one_required_parameter_that_is_no_graph_attribute() -> None:
    assert takes_object(parameters_of(lambda data, scale=1: data))
    assert not takes_object(parameters_of(lambda x: x))
    assert not takes_object(parameters_of(lambda data, scale: data))
