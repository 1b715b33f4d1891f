"""Tables of the discussion: one row for each method or setting, with what the long ones say."""

from __future__ import annotations

import pandas as pd

from eigsearch.bench.report.narrow_tables import narrow_tables, node_table
from eigsearch.bench.report.objections import first_point, objection_facts

ROW: dict[str, object] = {
    **{"section": "fidelity", "status": "ok", "setting": "BA-2Motifs GIN", "dataset": "BA-2Motifs"},
    **{"model": "gin", "explainer": "eig_search", "search": "sweep", "limit": 0.7, "seed": 0},
    **{"graph": 0, "node": None, "target": 0, "gain": 0.5, "sparsity": 0.7, "auc": 0.9},
    **{
        "auc_whole": 0.95,
        "auc_unsigned": 0.8,
        "true_share": 0.8,
        "pooled": False,
        "networks": "zoo",
    },
    **{"fit_sample": None, "train_seconds": None, "seconds": 0.1, "keep": [0, 1], "network": None},
    **{"reason": None},
    **{"characterization": 0.5, "label_gain": 1.0, "robust_gain": 0.1, "noise_stability": 1.0},
    **{"relabelling_stability": 1.0, "recall": 1.0, "kept": 0.9, "removed": 0.1, "load": 1.0},
}
NODE = {"section": "nodes", "setting": "Tree-Grid GIN", "dataset": "Tree-Grid", "graph": 0}


def _frame(*rows: dict[str, object]) -> pd.DataFrame:
    return pd.DataFrame([ROW | row for row in rows])


def _cells(table: str, line: int = 0) -> list[str]:
    return table.splitlines()[2 + line].strip("| ").split(" | ")


def test_leads_name_the_baselines_that_are_furthest_ahead() -> None:
    others = [
        {"explainer": name, "gain": gain}
        for name, gain in (("sa", 0.6), ("ig", 0.9), ("grad", 0.7), ("gradcam", 0.8), ("lrp", 0.1))
    ]
    cells = _cells(narrow_tables(_frame({}, *others))["leads"])
    assert cells[:4] == ["BA-2Motifs GIN", "5", "4", "4"]
    words = "Integrated Gradients +0.40 (1 of 1), Grad-CAM +0.30 (1 of 1), GRAD +0.20 (1 of 1)"
    assert cells[4] == words


def test_classes_stand_in_one_cell() -> None:
    other = {"target": 1, "gain": -0.25, "auc": 0.4, "graph": 1}
    table = narrow_tables(_frame({}, other))["classes"]
    assert _cells(table) == ["EiG-Search", "0.50 / −0.25", "0.90 / 0.40"]
    assert "BA-2Motifs GIN: gain, class 0 / 1" in table


def test_node_table_has_a_column_for_each_setting_and_kind_of_networks() -> None:
    rows = [NODE | {"node": 1}, NODE | {"node": 1, "explainer": "pgexplainer"}]
    table = node_table([("zoo", _frame(*rows)), ("the paper's", _frame(rows[0]))]).markdown()
    assert "Tree-Grid GIN, zoo | Tree-Grid GIN, the paper's" in table
    assert _cells(table) == ["EiG-Search", "0.90 / 0.80 / 0.95", "0.90 / 0.80 / 0.95"]
    assert _cells(table, 1)[1] == "0.90 / – / 0.95"  # a logit has no unsigned reading


def test_points_put_searches_side_by_side_and_mark_what_is_below() -> None:
    point = {"section": "searches", "limit": 0.5, "sparsity": 0.6}
    frame = _frame(point | {"gain": 0.1}, point | {"gain": 1.5, "search": "refine"})
    cells = _cells(narrow_tables(frame)["points"])
    assert cells[3].endswith("🔴")
    assert cells[6] == "1.50"
    assert first_point(frame, "BA-2Motifs GIN").startswith("0.10 at sparsity 0.60, where the paper")


def test_methods_count_predictions_once_for_all_limits() -> None:
    twice = [
        {},
        {"limit": 0.5},
        {"graph": 1},
        NODE | {"node": 3},
        NODE | {"node": 3, "pooled": True},
    ]
    cells = _cells(narrow_tables(_frame(*twice))["methods"])
    assert cells[:3] == ["EiG-Search", "2", "1"]
    assert cells[6] == "signed attribution"


def test_objections_are_answered_with_numbers_of_the_rows() -> None:
    rows = [NODE | {"node": n, "seed": n, "auc": 0.2 + 0.3 * n} for n in (0, 1)]
    chance = [row | {"explainer": "random"} for row in rows]
    pools = [row | {"pooled": True, "auc": 0.9} for row in rows]
    facts = objection_facts(_frame({}, *rows, *pools, *chance, NODE | {"explainer": "rcexplainer"}))
    assert facts["logits"] == ["RCExplainer"]
    assert facts["pooling"] == "EiG-Search, Tree-Grid GIN: mean 0.35, pooled 0.90"
    assert facts["tree_grid"].startswith("80% of near edges are positive, 2 of 2 nodes")
    assert facts["network_gap"] == "EiG-Search on Tree-Grid GIN: AUC from 0.20 to 0.50"
    assert facts["samples"]["fidelity"].startswith("at least 1 graphs (fewer than 100: EiG-Search")


def test_objections_name_the_methods_that_saw_no_node() -> None:
    """GECo has no node task; the paper's node score has no row of graphs by design."""
    others = [{"explainer": name} for name in ("same", "geco", "lrp")]
    nodes = [NODE | {"node": 1, "explainer": name} for name in ("lrp", "output_norm")]
    samples = objection_facts(_frame({}, *others, *nodes))["samples"]
    assert samples["nodes"].endswith("; no node was given to SAME)")
    assert "no graph" not in samples["fidelity"]


def test_objections_tell_what_training_on_all_graphs_would_take() -> None:
    timed = {"section": "efficiency", "dataset_size": 1000, "fit_sample": 40}
    rows = [
        timed | {"explainer": "pgexplainer", "train_seconds": 12.0},
        timed | {"explainer": "gem", "train_seconds": 24.0},
        timed | {"explainer": "gem", "train_seconds": 600.0, "node": 3, "fit_sample": 1},
    ]
    said = objection_facts(_frame({}, *rows))["whole_training"]
    assert said == "all 1,000 graphs of BA-2Motifs would take 5 (PGExplainer) to 10 (Gem)"
    assert objection_facts(_frame({}))["whole_training"] == ""


def test_misses_of_one_kind_are_one_row() -> None:
    refused = {"status": "skipped", "reason": "UnsupportedError: Expected a (got 1). Choose c."}
    other = refused | {"setting": "MUTAG GCN", "reason": "UnsupportedError: Expected a (got 2)."}
    table = narrow_tables(_frame({}, refused, refused, other))["misses"]
    where = "BA-2Motifs GIN, MUTAG GCN"
    assert _cells(table) == ["EiG-Search", "skipped", "3", where, "Expected a"]
