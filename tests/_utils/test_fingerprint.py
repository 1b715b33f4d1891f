"""Descriptions say what differs, stay what they were for defaults, and never name an address."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import torch

import eigsearch
from eigsearch import search
from eigsearch._utils.fingerprint import describe_value, hidden_state
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
