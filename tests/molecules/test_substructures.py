"""Tables of the fragments that recur in explanations."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eigsearch.molecules import substructures
from eigsearch.visualization import Names
from tests.molecules.chosen import six


def test_substructures_count_explanations_molecules_and_classes():
    rows = {row["smarts"]: row for row in substructures(six(), Names("", ("safe", "toxic")))}
    found = rows["[#6]-[#7+](=[#8])-[#8-]"]
    assert (found["formula"], found["explanations"], found["molecules"]) == ("CNO₂", 3, 4)
    assert found["used"] == 0.75
    assert (found["share safe"], found["share toxic"], found["class"]) == (0, 1, "toxic")
    assert found["enrichment"] == pytest.approx(2)
    assert found["p_value"] == pytest.approx(1 / 20)  # 3 of 3 against 0 of 3
    assert rows["[#6]-[#6]-[#8]"]["explanations"] == 2
    assert all(row["explanations"] >= 2 for row in rows.values())


def test_substructures_of_a_regression_have_mean_values():
    config = {"task": "regression"}
    values = [replace(each, value=float(n), config=config) for n, each in enumerate(six())]
    rows = {row["smarts"]: row for row in substructures(values, Names(unit="eV"))}
    found = rows["[#6]-[#7+](=[#8])-[#8-]"]
    assert (found["mean value with (eV)"], found["mean value without (eV)"]) == (1.0, 4.0)
    assert "class" not in found
