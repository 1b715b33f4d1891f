"""Fingerprints: every visible change of a model shows, and nothing of it is kept alive."""

from __future__ import annotations

import gc
import types
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any
from weakref import ref

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as pyg

from eigsearch.inference.model_fingerprint import Fingerprint

SETTINGS = {"norm": "batch"}
SCALE = 1.0


def helper(x: Tensor) -> Tensor:
    return x * SCALE


class Model(nn.Module):
    """A model with everything that users edit in place."""

    power = 1

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.head = pyg.GCNConv(3, 4), nn.Linear(4, 2)
        self.register_buffer("steps", torch.zeros(1))
        self.scale = 0.25
        self.config: dict[str, Any] = {"layers": [1, {"deep": "no"}], "names": {"a"}}
        self.space = SimpleNamespace(mode="sum", inner=SimpleNamespace(alpha=0.5))
        self.table = np.zeros(3)
        self.unregistered = [nn.Linear(1, 1)]
        self.act: Callable[[Tensor], Tensor] = partial(torch.clamp, min=0.0)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        if SETTINGS["norm"] == "batch":
            x = helper(x)
        return self.head(self.act(self.conv(x, edge_index)) ** self.power)


def _write_data(model: Model) -> None:
    model.head.weight.data.mul_(2)


def _write_in_place(model: Model) -> None:
    with torch.no_grad():
        model.head.bias.add_(1)


def _hook(model: Model) -> None:
    model.conv.register_forward_hook(lambda *_: None)


def _replace_message(model: Model) -> None:
    model.conv.message = types.MethodType(lambda self, x_j, edge_weight: 2 * x_j, model.conv)


CHANGES: dict[str, Callable[[Model], Any]] = {
    "attribute": lambda model: setattr(model, "scale", 0.75),
    "new attribute": lambda model: setattr(model, "extra", None),
    "entry of a nested dictionary": lambda model: model.config["layers"][1].update(deep="yes"),
    "member of a set": lambda model: model.config["names"].add("b"),
    "nested namespace": lambda model: setattr(model.space.inner, "alpha", 0.1),
    "numpy entry": lambda model: model.table.__setitem__(1, 2.0),
    "argument of a partial": lambda model: setattr(model, "act", partial(torch.clamp, min=1.0)),
    "weight through data": _write_data,
    "weight in place": _write_in_place,
    "buffer": lambda model: model.get_buffer("steps").add_(1),
    "module": lambda model: setattr(model, "head", nn.Linear(4, 2)),
    "module in a list": lambda model: setattr(model.unregistered[0], "in_features", 7),
    "hook": _hook,
    "training": lambda model: model.conv.train(),
    "method of an instance": _replace_message,
    "configuration of a layer": lambda model: setattr(model.conv, "normalize", False),
}


@pytest.mark.parametrize("change", CHANGES)
def test_fingerprint_after_a_change_of_the_model_differs(change: str) -> None:
    model = Model().eval()
    before = Fingerprint([model]).hold()
    assert before.same(Fingerprint([model]))
    CHANGES[change](model)
    assert not before.same(Fingerprint([model]))


@pytest.mark.parametrize(
    ("owner", "name", "value"),
    [
        (Model, "power", 2),
        (pyg.GCNConv, "message", lambda self, x_j, edge_weight: x_j),
        (nn.Linear, "forward", lambda self, x: x),
    ],
)
def test_fingerprint_after_a_change_of_a_class_differs(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, value: Any
) -> None:
    model = Model().eval()
    before = Fingerprint([model]).hold()
    monkeypatch.setattr(owner, name, value)
    assert not before.same(Fingerprint([model]))


def test_fingerprint_after_a_change_of_what_methods_read_differs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = Model().eval()
    before = Fingerprint([model]).hold()
    with monkeypatch.context() as patch:
        patch.setitem(SETTINGS, "norm", "pair")
        assert not before.same(Fingerprint([model]))
    assert before.same(Fingerprint([model]))
    monkeypatch.setattr("tests.inference.test_model_fingerprint.SCALE", 3.0)
    assert not before.same(Fingerprint([model]))  # read by a function that forward calls


def test_fingerprint_of_a_number_in_the_same_place_in_memory_differs() -> None:
    model = Model()
    before = Fingerprint([model]).hold()
    for value in (0.5, 0.7, 0.25):  # the memory of one float is given to the next
        model.scale = float(str(value))
        assert before.same(Fingerprint([model])) == (value == 0.25)


def test_fingerprint_of_things_that_are_gone_differs() -> None:
    model = Model()
    model.act = lambda x: x + 1
    before = Fingerprint([model]).hold()
    del model.act
    gc.collect()
    model.act = lambda x: x + 1
    assert not before.same(Fingerprint([model]))


def test_fingerprint_of_a_model_with_too_many_things_is_never_the_same() -> None:
    model = Model()
    model.config["layers"] = [[number] for number in range(10_000)]
    assert not Fingerprint([model]).hold().same(Fingerprint([model]))


def test_fingerprint_that_is_kept_does_not_keep_the_model() -> None:
    model = Model()
    model.config["self"] = model
    kept, gone = Fingerprint([model]).hold(), ref(model)
    del model
    gc.collect()
    assert gone() is None
    assert kept.complete
