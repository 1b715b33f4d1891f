"""Answer objections that authors of other methods may raise, with numbers of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eigsearch.bench.report.by_class import class_frame
from eigsearch.bench.report.coverage import span
from eigsearch.bench.report.node_auc import auc_frame, truth_share_frame
from eigsearch.bench.report.published_points import point_frame
from eigsearch.bench.rows.frame import (
    OURS,
    RELATIVES,
    display_name,
    over_seeds,
    section,
    sort_explainers,
)
from eigsearch.explainers import ScoreType
from eigsearch.explainers.registry import method_class
from eigsearch.explainers.registry import names as registered_names

if TYPE_CHECKING:
    import pandas as pd

_ENOUGH = {"fidelity": 100, "nodes": 60}  # predictions of each method, all settings together


def objection_facts(frame: pd.DataFrame) -> dict[str, Any]:
    """Return, by name, the sentences with which the discussion answers."""
    return {
        "logits": _with_scores(frame, ScoreType.LOGIT),
        "unpooled": _with_scores(frame, ScoreType.RANK) + _with_scores(frame, ScoreType.P_VALUE),
        "pooling": _largest_pooling_gap(frame),
        "tree_grid": _truth_share(frame, "Tree-Grid"),
        "training": _training(frame),
        "whole_training": _whole_training(frame),
        "network_gap": _largest_gap(frame),
        "class_gap": _largest_class_gap(frame),
        "samples": {name: _samples(frame, name) for name in _ENOUGH},
        "first_point": first_point(frame, "BA-2Motifs GIN"),
    }


def first_point(frame: pd.DataFrame, setting: str) -> str:
    """Return what the sweep gains in a setting at the lowest limit, and what the paper prints."""
    points = point_frame(frame)
    points = points[(points["setting"] == setting) & (points["search"] == "sweep")]
    if points.empty:
        return ""
    point = points.sort_values("limit").iloc[0]
    found = f"{point['gain']:.2f} at sparsity {point['sparsity']:.2f}"
    return f"{found}, where the paper prints {point['printed']:.2f}"


def _with_scores(frame: pd.DataFrame, score_type: ScoreType) -> list[str]:
    """Return the methods of the rows whose scores are of a type."""
    known = [name for name in sort_explainers(frame["explainer"]) if name in registered_names()]
    return [display_name(n) for n in known if method_class(n).card.score_type is score_type]


def _largest_pooling_gap(frame: pd.DataFrame) -> str:
    """Return where the mean over nodes and the pool of all nodes differ most."""
    rows = section(frame, "nodes")
    if rows.empty:
        return ""
    table = auc_frame(rows)
    gaps = (table["near, mean"] - table["near, pooled"]).abs()
    if gaps.isna().all():
        return ""
    row = table.loc[gaps.idxmax()]
    name = f"{display_name(row['explainer'])}, {row['setting']}"
    return f"{name}: mean {row['near, mean']:.2f}, pooled {row['near, pooled']:.2f}"


def _truth_share(frame: pd.DataFrame, dataset: str) -> str:
    """Return how many of the edges near a node are positive, and on how many nodes that counts."""
    rows = section(frame, "nodes")
    table = truth_share_frame(rows[rows["dataset"] == dataset])
    if table.empty:
        return ""
    row = table.iloc[0]
    return (
        f"{row['positive among near edges']:.0%} of near edges are positive, "
        f"{row['with a defined AUC']} of {row['nodes']} nodes have a defined AUC, and random "
        f"scores reach {row['random, near, mean']:.2f} near and {row['random, whole, mean']:.3f} "
        "over the whole graph"
    )


def _training(frame: pd.DataFrame) -> list[str]:
    """Return, for each method that trains, on how many graphs it did and how long that took."""
    rows = section(frame, "fidelity").dropna(subset=["fit_sample"])
    return [
        f"{display_name(name)} {span(mine['fit_sample'])}"
        for name, mine in ((n, rows[rows["explainer"] == n]) for n in _names(rows))
    ]


def _whole_training(frame: pd.DataFrame) -> str:
    """Return how long training on all graphs of the largest set would take, by what a part took."""
    rows = section(frame, "efficiency")
    rows = rows[rows["train_seconds"].gt(0) & rows["fit_sample"].notna() & rows["node"].isna()]
    if rows.empty:
        return ""
    rows = rows[rows["dataset_size"] == rows["dataset_size"].max()]
    seconds = rows["train_seconds"] / rows["fit_sample"] * rows["dataset_size"]
    minutes = (seconds / 60).groupby(rows["explainer"]).mean()
    least, most = (
        f"{value:.0f} ({display_name(str(name))})"
        for value, name in ((minutes.min(), minutes.idxmin()), (minutes.max(), minutes.idxmax()))
    )
    row = rows.iloc[0]
    return f"all {row['dataset_size']:,.0f} graphs of {row['dataset']} would take {least} to {most}"


def _names(rows: pd.DataFrame) -> list[str]:
    return sort_explainers(rows["explainer"].unique())


def _largest_gap(frame: pd.DataFrame) -> str:
    """Return the method and setting whose AUC differs most between networks (or samples)."""
    rows = section(frame, "nodes")
    rows = rows[~rows["pooled"].astype(bool)]
    if rows.empty:
        return ""
    means = over_seeds(rows, ["setting", "explainer"], ["auc"])
    row = means.loc[(means["auc_high"] - means["auc_low"]).idxmax()]
    name = f"{display_name(row['explainer'])} on {row['setting']}"
    return f"{name}: AUC from {row['auc_low']:.2f} to {row['auc_high']:.2f}"


def _largest_class_gap(frame: pd.DataFrame) -> str:
    """Return the method and setting whose AUC differs most between classes."""
    table = class_frame(frame)
    columns = [column for column in table if str(column).startswith("AUC, class")]
    if table.empty or not columns:
        return ""
    gaps = table[columns].max(axis=1) - table[columns].min(axis=1)
    row = table.loc[gaps.idxmax()]
    name = f"{display_name(row['explainer'])} on {row['setting']}"
    return f"{name}: AUC {' and '.join(f'{row[column]:.2f}' for column in columns)}"


def _samples(frame: pd.DataFrame, name: str) -> str:
    """Return how few predictions a method saw, in all settings, and which saw too few or none."""
    rows = section(frame, name)
    column = "graph" if name == "fidelity" else "node"
    rows = rows[rows[column].notna() & ~rows["pooled"].astype(bool)]
    if rows.empty:
        return ""
    counts = rows.drop_duplicates(["setting", "explainer", "seed", column])["explainer"]
    counts = counts.value_counts()
    few = [display_name(n) for n in sort_explainers(counts[counts < _ENOUGH[name]].index)]
    fewest = f"{display_name(counts.idxmin())} saw fewest"
    words = [f"fewer than {_ENOUGH[name]}: {', '.join(few)}" if few else fewest]
    if none := _without_rows(frame, set(counts.index), column):
        words.append(f"no {column} was given to {', '.join(none)}")
    return f"at least {counts.min()} {column}s ({'; '.join(words)})"


def _without_rows(frame: pd.DataFrame, seen: set[str], task: str) -> list[str]:
    """Return the baselines that have a task and saw no prediction of it."""
    known = set(registered_names()) - seen - {OURS, *RELATIVES}
    names = [name for name in sort_explainers(frame["explainer"]) if name in known]
    return [display_name(name) for name in names if task in method_class(name).card.tasks]
