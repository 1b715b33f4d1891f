from __future__ import annotations

from pathlib import Path

import pytest

import eigsearch
from eigsearch import store
from eigsearch.explanation.sentence import decimals
from eigsearch.parallel import explain_to
from eigsearch.visualization import Names
from tests.nets import house, make_net


def explained(node: int | None = None) -> eigsearch.SubgraphExplanation:
    model = make_net(pool="mean" if node is None else None)
    return eigsearch.explain(model, house(), node=node, sparsity=0.3)


def test_sentence_one_edge_is_singular() -> None:
    ex = eigsearch.explain(make_net(), house(), search=None, size=1)
    kept, removed = float(ex.found.kept), float(ex.found.removed)
    assert f"; with this edge alone {kept:.2f}; without it {removed:.2f}." in ex.sentence()


def test_sentence_several_edges_are_counted() -> None:
    ex = explained()
    kept, removed = float(ex.found.kept), float(ex.found.removed)
    assert ex.size > 1
    said = (
        f"P(class {ex.target}) = {ex.value:.2f}; with these {ex.size} edges alone {kept:.2f}; "
        f"without them {removed:.2f}. {ex.note}"
    )
    assert ex.sentence() == said.strip()


def test_sentence_size_that_was_not_evaluated_has_no_numbers() -> None:
    ex = explained()
    said = ex.at(0).sentence()
    assert said == f"P(class {ex.target}) = {ex.value:.2f}. Size 0 was not evaluated."


def test_sentence_regression_speaks_of_values() -> None:
    ex = eigsearch.explain(make_net(outputs=1), house(), task="regression")
    assert ex.sentence().startswith("output 0 = ")
    assert ex.prediction == pytest.approx(ex.value)


def test_sentence_named_classes_name_both_of_a_contrast(tmp_path: Path) -> None:
    target = eigsearch.explain(make_net(), house()).target
    ex = eigsearch.explain(make_net(), house(), rather_than=1 - target)
    names = ("house", "cycle")
    page = ex.save(tmp_path / "page.html", Names(class_names=names)).read_text()
    assert f"P({names[target]} rather than {names[1 - target]})" in page


def test_sentence_says_what_a_contrast_is_about(tmp_path: Path) -> None:
    plain = eigsearch.explain(make_net(outputs=1), house(), task="regression")
    options = eigsearch.Options(task="regression", above=round(plain.value - 1, 1))
    explain_to(tmp_path / "rows", make_net(outputs=1), [house()], options=options)
    (above,) = store.read(tmp_path / "rows")
    assert above.sentence().startswith(f"output 0 (above {options.above:g}) = ".replace("-", "−"))
    ex = eigsearch.explain(make_net(), house())
    other = eigsearch.explain(make_net(), house(), rather_than=1 - ex.target)
    named = f"P(class {ex.target} rather than {1 - ex.target})"
    assert other.sentence().startswith(f"{named} = ")
    assert named in other.save(tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.125, "0.12"), (-0.5, "−0.50"), (-0.001, "0.00"), (-0.0, "0.00"), (3, "3.00")],
)
def test_decimals_two_of_them_a_real_minus_and_no_negative_zero(value: float, text: str) -> None:
    assert decimals(value) == text
