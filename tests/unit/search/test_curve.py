"""The fidelity curve, wherever φ comes from."""

from __future__ import annotations

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from eigsearch.search.curve import Curve
from eigsearch.target import Target


def test_the_graph_may_have_been_asked_about_on_another_device_than_its_parts() -> None:
    """Some searches keep φ in NumPy, while that of the whole graph is where the model is."""
    target = Target("multiclass_classification", "raw", 0)
    with FakeTensorMode():
        phi = torch.ones(2, dtype=torch.float64)
        whole = torch.ones((), dtype=torch.float64, device="cuda")
        curve = Curve.of(target, whole, torch.tensor([2, 3]), phi, phi)
        assert curve.kept.device == curve.fidelity_plus.device == torch.device("cpu")
