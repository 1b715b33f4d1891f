from dataclasses import fields

from eigsearch.metrics import METRICS, Fidelity, RobustFidelity


def test_every_reported_number_has_an_entry():
    values = {"whole", "kept", "removed"}
    names = {f.name for f in fields(Fidelity)} - values | {"gain", "label_gain"}
    names |= {f"robust_{f.name}" for f in fields(RobustFidelity)}
    assert names <= set(METRICS)


def test_entries_say_what_they_are_and_which_way_is_up():
    for name, metric in METRICS.items():
        assert metric.name == name
        assert metric.definition.endswith((".", ").")), name
    assert METRICS["gain"].higher_is_better is True
    assert METRICS["fidelity_minus"].higher_is_better is False
    assert METRICS["edge_sparsity"].higher_is_better is None
