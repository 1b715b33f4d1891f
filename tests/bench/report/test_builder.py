"""A report says what the rows say: means over seeds, margins, overlaps, and red where behind."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from eigsearch.bench import Results
from eigsearch.bench.report.builder import write_report
from eigsearch.bench.report.discussion import write_discussion
from eigsearch.bench.report.equal_search import equal_search_items, lead_frame
from eigsearch.bench.report.figure import Table
from eigsearch.bench.report.margins import loss_frame, margin_frame
from eigsearch.bench.report.node_auc import auc_frame
from eigsearch.bench.report.other_metrics import agreement
from eigsearch.bench.report.search_comparison import optimum_gaps, search_items
from eigsearch.bench.report.theme import DARK, LIGHT
from eigsearch.bench.rows.frame import over_seeds, read_frame
from eigsearch.bench.rows.published import published, published_line, published_value
from eigsearch.bench.rows.schema import Row

ROW: Row = {
    **{"run": "r", "plan": "smoke", "section": "fidelity", "dataset": "MUTAG", "model": "gcn"},
    **{"task": "graph", "explainer": "eig_search", "level": "edge", "search": "sweep"},
    **{"limit": 0.5, "seed": 0, "graph": 0, "target": 1, "pooled": False, "status": "ok"},
    **{"num_groups": 10, "size": 3, "evaluations": 8, "sparsity": 0.7, "value": 0.9},
    **{"gain": 0.5, "fidelity_plus": 0.4, "fidelity_minus": -0.1, "seconds": 0.01},
    **{"robust_gain": 0.1, "characterization": 0.2, "label_gain": 1.0, "auc": 0.8},
    **{"precision": 0.5, "recall": 0.5, "sample": 2, "dataset_size": 188, "options": "{}"},
    **{"keep": [0, 1, 2], "machine": "one", "versions": '{"torch": "2"}', "load": 1.0},
}


def _rows() -> list[Row]:
    """Random is below EiG-Search at limit 0.5 and above it at 0.9."""
    theirs = {"explainer": "random", "search": "fixed", "keep": [1, 2, 3]}
    points = {0.5: (0.5, 0.6, 0.1), 0.9: (0.2, 0.8, 0.3)}
    found = []
    for limit, (ours, sparsity, level) in points.items():
        for seed in (0, 1):
            row = ROW | {"limit": limit, "seed": seed, "graph": seed}
            shift = 0.1 * seed
            found += [
                row | {"gain": ours + shift, "sparsity": sparsity},
                row | {"gain": ours + shift, "search": "fixed"},
                row | theirs | {"gain": level + shift, "sparsity": limit},
                row | theirs | {"gain": level + shift, "search": "sweep"},
            ]
    return found


@pytest.fixture
def results(tmp_path: Path) -> Path:
    rows = _rows()
    optimum = ROW | {"section": "optimum"}
    rows += [optimum | {"gain": 0.4}, optimum | {"gain": 0.6, "search": "exhaustive"}]
    rows += [ROW | {"section": "searches", "search": name} for name in ("sweep", "refine")]
    rows += [ROW | {"section": "efficiency"}]
    rows += [ROW | {"status": "skipped", "reason": "UnsupportedError: no | attention"}]
    store = Results(tmp_path)
    store.prepare()
    store.write("r", rows)
    return tmp_path


def test_means_are_over_seeds() -> None:
    frame = pd.DataFrame({"name": "a", "seed": [0, 0, 0, 1], "gain": [1.0, 1.0, 1.0, 0.0]})
    (line,) = over_seeds(frame, ["name"], ["gain"]).to_dict("records")
    assert line["gain"] == 0.5
    assert (line["gain_low"], line["gain_high"]) == (0.0, 1.0)


def test_auc_frame_leaves_out_what_a_score_type_does_not_allow() -> None:
    auc = {"auc": 0.9, "auc_whole": 0.95, "auc_unsigned": 0.4}
    node = ROW | auc | {"section": "nodes", "setting": "Tree-Grid GIN", "dataset": "Tree-Grid"}
    named = [node | {"explainer": name} for name in ("eig_search", "pgexplainer", "degree")]
    table = auc_frame(pd.DataFrame(named + [row | {"pooled": True} for row in named]))
    table = table.set_index("explainer")
    assert table["near, mean"].tolist() == [0.9] * 3
    unsigned = table["unsigned, mean"].notna()
    assert unsigned.to_dict() == {"eig_search": True, "pgexplainer": False, "degree": True}
    pooled = table["near, pooled"].notna()
    assert pooled.to_dict() == {"eig_search": True, "pgexplainer": True, "degree": False}


def test_margins_are_at_the_sparsity_that_was_found(results: Path) -> None:
    margins = margin_frame(read_frame(results)).set_index("limit")["margin"]
    assert margins[0.5] == pytest.approx(0.55 - (0.15 + 0.25 * 0.2))  # a quarter along its line
    assert margins[0.9] == pytest.approx(0.25 - (0.15 + 0.75 * 0.2))


def test_a_loss_is_put_down_to_what_it_comes_from(results: Path) -> None:
    (loss,) = loss_frame(read_frame(results)).to_dict("records")
    assert (loss["explainer"], loss["limit"], loss["graphs"]) == ("random", 0.9, 2)
    assert loss["lowest"] == pytest.approx(loss["highest"])
    assert loss["why"] == "the search or the ranking: refine was not run"
    more = [ROW | {"section": "searches", "search": "refine", "gain": 0.9, "seed": s, "graph": s}
            for s in (0, 1)]  # fmt: skip
    Results(results).write("s", [row | {"limit": 0.9, "run": "s"} for row in more])
    (loss,) = loss_frame(read_frame(results)).to_dict("records")
    assert loss["with refine"] == pytest.approx(0.9 - 0.25)
    assert loss["why"] == "the search: refine is not behind"
    Results(results).write("s", [row | {"limit": 0.9, "run": "s", "gain": 0.0} for row in more])
    (loss,) = loss_frame(read_frame(results)).to_dict("records")
    assert loss["why"] == "the ranking"


def test_a_loss_that_not_every_seed_shares_is_put_down_to_the_network(results: Path) -> None:
    theirs = {"explainer": "random", "search": "fixed", "limit": 0.9, "run": "c"}
    wide = [ROW | theirs | {"gain": gain, "seed": s, "graph": s} for s, gain in ((0, 0.0), (1, 1))]
    rows = [row for row in _rows() if not (row["explainer"] == "random" and row["limit"] == 0.9)]
    Results(results).write("r", rows + wide)
    (loss,) = loss_frame(read_frame(results)).to_dict("records")
    assert loss["lowest"] < loss["margin"] < 0 < loss["highest"]
    assert loss["why"].startswith("the network")


def test_a_lead_is_that_of_the_searched_baseline_on_the_same_graphs(results: Path) -> None:
    frame = read_frame(results)
    for limit, lead in ((0.5, 0.1 - 0.5), (0.9, 0.3 - 0.2)):
        (line,) = lead_frame(frame[frame["limit"] == limit]).to_dict("records")
        assert line["lead"] == pytest.approx(lead)
        assert (line["lowest"], line["highest"]) == pytest.approx((lead, lead))
        assert (line["ahead"], line["seeds"], line["graphs"]) == (2 if lead > 0 else 0, 2, 2)


def test_equal_search_comes_first_and_shows_who_is_ahead(results: Path) -> None:
    frame = read_frame(results)
    searched, ahead, cut = equal_search_items(frame[frame["limit"] == 0.9])
    assert [item.name for item in (searched, ahead, cut)] == ["search", "leads", "cuts"]
    assert "lowest and the highest of the samples" in searched.text
    lines = searched.table.markdown().splitlines()
    assert lines[2:] == [
        "| EiG-Search | 0.25 (0.20 to 0.30) |",
        "| Random | 0.35 (0.30 to 0.40) 🔴 |",
    ]
    assert ahead.table.frame["samples ahead"].tolist() == ["2 of 2"]


def test_ranges_are_over_networks_where_there_are_several(results: Path) -> None:
    rows = [row | {"network": row["seed"]} for row in _rows()]
    Results(results).write("r", rows)
    frame = read_frame(results)
    assert "of the networks" in equal_search_items(frame)[0].text


def test_the_same_ranking_in_other_units_is_no_baseline(results: Path) -> None:
    rows = [row | {"explainer": row["explainer"].replace("random", "occlusion")} for row in _rows()]
    Results(results).write("r", rows)
    frame = read_frame(results)
    assert margin_frame(frame).empty
    items = {item.name: item for item in equal_search_items(frame[frame["limit"] == 0.9])}
    assert set(items) == {"search", "cuts"}
    assert "Occlusion (the same ranking, in probabilities)" in items["search"].table.markdown()


def test_the_gap_is_that_to_the_exhaustive_search(results: Path) -> None:
    assert optimum_gaps(read_frame(results))["gap"].tolist() == pytest.approx([0.2])


def test_a_column_that_no_row_has_is_left_out_of_the_searches() -> None:
    rows = [{**ROW, "setting": "MUTAG GCN", "section": "searches", "robust_gain": float("nan")}]
    for item in search_items(pd.DataFrame(rows)):
        assert item.table is not None
        assert {"gain", "recall"} <= set(item.table.frame)
        assert "robust_gain" not in item.table.frame


def test_agreement_is_the_overlap_on_the_same_graph() -> None:
    rows = pd.DataFrame([r for r in _rows() if r["limit"] == 0.5 and r["search"] == "fixed"])
    rows["setting"] = "MUTAG GCN"
    matrix = agreement(rows, ["eig_search", "random"])
    assert matrix.tolist() == [[1.0, 0.5], [0.5, 1.0]]


def test_red_cells_are_marked_in_markdown() -> None:
    frame = pd.DataFrame({"method": ["a|b"], "margin": [-0.25]})
    table = Table(frame, frame.map(lambda v: v == -0.25))
    assert table.markdown().splitlines()[-1] == "| a/b | −0.250 🔴 |"


def test_published_values_stand_beside_ours() -> None:
    line = published_line("gain", "BA-2Motifs GIN", "eig_search")
    assert line["sparsity"].is_monotonic_increasing
    assert line["value"].iloc[0] == 0.9999
    assert published_value("auc", "Tree-Grid", "rcexplainer") == 0.995
    assert published_value("auc", "Tree-Grid", "random") is None
    assert published()["value"].notna().all()


def test_a_method_has_one_colour_on_each_ground() -> None:
    assert LIGHT.line("gnnexplainer") == LIGHT.line("GNNExplainer")
    assert LIGHT.line("gnnexplainer")["color"] != DARK.line("gnnexplainer")["color"]
    assert LIGHT.line("pgm_explainer")["linestyle"] != "-"


def test_the_report_has_tables_figures_and_one_page(results: Path) -> None:
    page = write_report(results).read_text()
    folder = results / "report"
    for form in ("svg", "png"):
        assert (folder / "figures" / f"gain.{form}").stat().st_size > 1000
    assert "limit 0.9" in (folder / "tables" / "margins.csv").read_text()
    assert '<td class="red">−0.050</td>' in page
    assert page.count("<picture>") >= 6
    assert "http" not in page.replace("http-equiv", "")
    assert "no / attention" in page


def test_the_same_rows_give_the_same_bytes(results: Path) -> None:
    first, second = write_report(results, results / "a"), write_report(results, results / "b")
    names = sorted(p.relative_to(first.parent) for p in first.parent.rglob("*.*"))
    assert len(names) > 10
    for name in names:
        assert (first.parent / name).read_bytes() == (second.parent / name).read_bytes(), name


def test_the_discussion_counts_what_the_rows_say(results: Path, tmp_path: Path) -> None:
    text = write_discussion(results, tmp_path / "results.md").read_text()
    assert "of 2 comparisons" in text
    assert "1 to the search or the ranking" in text
    assert "No rows of the published networks" in text


def test_the_discussion_has_the_published_networks_that_lie_beside(
    results: Path, tmp_path: Path
) -> None:
    beside = Results(results.with_name(results.name + "-published"))
    beside.prepare()
    known = {"networks": "published", "section": "searches", "gain": -1.0}
    beside.write("r", [*(row | {"networks": "published"} for row in _rows()), ROW | known])
    text = write_discussion(results, tmp_path / "results.md").read_text()
    assert "With sweep, 1 of 1 points (setting × limit) are below it" in text
    assert '1. **"Your networks are not the paper\'s."** Answered' in text
