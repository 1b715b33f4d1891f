"""Random scores, which every explainer should beat."""

import torch

from eigsearch.explainers.baselines.random import Random
from tests.explainers.linear import bull
from tests.explainers.planted import HOUSE, graphs


def test_random_scores_depend_on_seed_and_graph():
    one, two = graphs(HOUSE, 2)
    again = Random().rank(None, one, 0, None)
    assert torch.equal(again, Random().rank(None, one, 0, None))
    assert not torch.equal(again, Random(seed=1).rank(None, one, 0, None))
    assert not torch.equal(again, Random().rank(None, two, 0, None))


def test_random_scores_leave_the_global_generator_alone():
    state = torch.random.get_rng_state()
    Random().rank(None, bull(), 0, None)
    assert torch.equal(state, torch.random.get_rng_state())
