"""Descriptions say what differs, stay what they were for defaults, and never name an address."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial

import pytest
import torch

import eigsearch
from eigsearch import search
from eigsearch._utils.fingerprint import describe_value, hidden_state, model_digest
from eigsearch.explainers import Random
from eigsearch.options import Options
from eigsearch.search import SEARCHES, FixedSize, Refine
from tests.nets import house, make_net


def call(model, batch, scale=1.0):
    return scale * model(batch.x, batch.edge_index, batch.batch)


def scaled(scale: float | list | torch.Tensor) -> Callable:
    return lambda model, batch: scale * call(model, batch)


class Wrapper:
    """Calls a model; has no name but that of its class."""

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale

    def call(self, model, batch):
        return call(model, batch, self.scale)


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_by_name_and_its_default_object_are_the_same(name):
    assert describe_value(SEARCHES[name]()) == name == Options(search=name).describe()["search"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Refine(rounds=9, parsimony=0.5), "refine(rounds=9, parsimony=0.5)"),
        (search.Anchored(anchor=0.0), "anchored(anchor=0.0)"),
        (FixedSize(3), "fixed(size=3)"),
        (Random(), "Random"),
        (Random(seed=2), "Random(seed=2)"),
        (call, "tests._utils.test_fingerprint.call"),
        (partial(call, scale=2.0), "partial(tests._utils.test_fingerprint.call, scale=2.0)"),
        (Wrapper(), "tests._utils.test_fingerprint.Wrapper"),
        (Wrapper(2.0), "tests._utils.test_fingerprint.Wrapper(scale=2.0)"),
        (Wrapper(2.0).call, "tests._utils.test_fingerprint.Wrapper(scale=2.0).call"),
    ],
)
def test_an_object_is_its_name_and_what_differs_from_the_defaults(value, words):
    assert describe_value(value) == words


def test_functions_without_a_name_of_their_own_are_told_apart_by_what_they_do():
    double = lambda model, batch: 2 * call(model, batch)  # noqa: E731
    triple = lambda model, batch: 3 * call(model, batch)  # noqa: E731
    again = lambda model, batch: 2 * call(model, batch)  # noqa: E731
    assert describe_value(double) == describe_value(again) != describe_value(triple)
    assert describe_value(scaled(2.0)) == describe_value(scaled(2.0)) != describe_value(scaled(3.0))


def test_what_a_description_leaves_out_is_named():
    assert hidden_state(Random(seed=2)) == hidden_state(call) == hidden_state(scaled(2.0)) == {}
    weights = torch.ones(3)
    assert hidden_state(scaled(weights)) == {"scale": weights}
    assert (
        hidden_state(Wrapper(weights)) == hidden_state(Wrapper(weights).call) == {"scale": weights}
    )
    assert hidden_state(Wrapper(2.0)) == {}
    assert hidden_state(partial(call, scale=weights))["keywords"] == {"scale": weights}


def test_an_explanation_says_how_it_was_obtained():
    ex = eigsearch.explain(
        make_net(pool="mean"), house(), search=Refine(rounds=9), ranker=Random(1)
    )
    assert ex.config["search"] == "refine(rounds=9)"
    assert ex.config["ranker"] == "Random(seed=1)"


class Scaled(torch.nn.Module):
    """A network with a setting that no weight shows."""

    def __init__(self, factor: float = 1.0) -> None:
        super().__init__()
        self.times = factor
        self.layer = torch.nn.Linear(2, 2)
        torch.nn.init.ones_(self.layer.weight)
        torch.nn.init.ones_(self.layer.bias)

    def forward(self, x):
        return self.times * self.layer(x)


def test_model_digest_covers_settings_and_not_the_mode():
    assert model_digest(Scaled().train()) == model_digest(Scaled().eval())
    assert model_digest(Scaled()) != model_digest(Scaled(2.0))
    assert model_digest(partial(Scaled())) != model_digest(partial(Scaled(2.0)))


def test_model_digest_covers_the_code_of_forward():
    def make(sign: int) -> type:
        class Changed(Scaled):
            if sign > 0:

                def forward(self, x):
                    return self.layer(x)
            else:

                def forward(self, x):
                    return -self.layer(x)

        return Changed

    assert model_digest(make(1)()) == model_digest(make(1)()) != model_digest(make(-1)())


def test_model_digest_covers_functions_and_constants_that_forward_uses(monkeypatch):
    before = model_digest(Helped())
    monkeypatch.setattr(f"{__name__}.HALF", 0.25)
    assert model_digest(Helped()) != before


HALF = 0.5


def helper(x):
    return HALF * x


class Helped(Scaled):
    def forward(self, x):
        return helper(self.layer(x))


def test_model_digest_is_the_same_in_another_process():
    code = f"from {__name__} import *; print(model_digest(Helped()))"
    results = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            check=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
        ).stdout.strip()
        for seed in (1, 2)
    }
    assert results == {model_digest(Helped())}
