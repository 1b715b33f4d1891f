"""Node tasks: how well scores find the motif that a node belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eigsearch.bench.report.dot_plot import dot_panels
from eigsearch.bench.report.figure import ReportItem, Table
from eigsearch.bench.report.theme import Theme, legend
from eigsearch.bench.rows.frame import (
    OURS,
    over_seeds,
    repeats_of,
    section,
    sort_by_method,
    with_display_names,
)
from eigsearch.bench.rows.published import published_value
from eigsearch.explainers.registry import method_class, names

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_TEXT = (
    "Area under the ROC curve of edge scores for nodes of motifs that are classified correctly. "
    "Positives are the edges of the node's own motif. Three readings of the same scores. Near: "
    "candidates are the edges of the node's computation graph, so a method must tell the motif "
    "from edges that matter as well. Whole: candidates are all edges of the graph, those out of "
    "reach last; most are easy negatives, so knowing the neighbourhood is nearly enough. Unsigned: "
    "near, by the size of a score without its sign, so an edge that speaks against the class "
    "counts as found; logits have no such reading, because a negative one means to leave an edge "
    "out. Mean is over nodes; pooled puts the edges of all nodes in one list, which ranks and "
    "p-values of different computation graphs cannot share. The "
    "paper scores an edge here by the norm of the change of all outputs, which has no sign (Output "
    "norm), and does not state its candidates. Lowest and highest: of the {repeats}, near, mean."
)
# Sources of published AUCs: the paper copies the numbers of baselines from their papers.
_PRINTED = {
    "eig_search": "the norm of the change of all outputs; candidates and pooling not stated",
    "grad": "copied from an earlier paper; not stated",
    "att": "copied from an earlier paper; not stated",
    "gnnexplainer": "copied from an earlier paper; not stated",
    "pgexplainer": "edges of any motif within 3 hops, sigmoid values pooled over the motif nodes "
    "that it was trained on",
    "degree": "a node-level AUC of single-node scores, mean over nodes",
    "rg_explainer": "copied from its authors; not stated",
    "rcexplainer": "copied from its authors; not stated",
}


_PROTOCOLS = {"auc": "near", "auc_whole": "whole", "auc_unsigned": "unsigned"}
_MARKS = {"near": "o", "unsigned": "D", "whole": "|"}


def node_auc_items(frame: pd.DataFrame) -> list[ReportItem]:
    """Return the AUC of all methods under both protocols."""
    rows = section(frame, "nodes")
    if rows.empty:
        return []
    table = auc_frame(rows)
    return [
        ReportItem(
            "nodes",
            "Finding the motif of a node",
            _TEXT.format(repeats=repeats_of(rows)),
            draw=lambda theme: _draw(table, theme),
            table=Table(with_display_names(table)),
        ),
        *_truth_shares(rows),
        *_printed(rows),
    ]


def truth_share_frame(rows: pd.DataFrame) -> pd.DataFrame:
    """Return, by setting, the share of positives among near edges and what random scores reach."""
    nodes = rows[~rows["pooled"].astype(bool) & (rows["explainer"] == OURS)]
    if nodes.empty or "true_share" not in nodes:
        return nodes.iloc[:0]
    by = nodes.groupby("setting")
    table = by["true_share"].mean().rename("positive among near edges").to_frame()
    table["nodes"] = by.size()
    table["with a defined AUC"] = by["auc"].count()
    chance = auc_frame(rows).query("explainer == 'random'").set_index("setting")
    for column in ("near, mean", "whole, mean"):
        table[f"random, {column}"] = chance[column]
    return table.reset_index()


def _truth_shares(rows: pd.DataFrame) -> list[ReportItem]:
    """Return the share of positive edges near a node; if most are, an AUC says little."""
    table = truth_share_frame(rows)
    if table.empty:
        return []
    return [
        ReportItem(
            "node_truth",
            "What an AUC near a node can say",
            "The share of the edges in a node's computation graph that belong to its motif, on how "
            "many of the explained nodes an AUC is defined (it needs both kinds), and what random "
            "scores reach. Where nearly all near edges are positive there is little to tell "
            "apart, and the whole graph flatters everybody.",
            table=Table(table),
        )
    ]


def _printed(rows: pd.DataFrame) -> list[ReportItem]:
    """Return the published AUCs, by themselves and with their protocols."""
    datasets = sorted(rows["dataset"].unique())
    lines: list[dict[str, object]] = []
    for name, protocol in _PRINTED.items():
        values = {data: published_value("auc", data, name) for data in datasets}
        lines.append({"explainer": name, **values, "its protocol": protocol})
    return [
        ReportItem(
            "printed_auc",
            "Published AUCs, each by its own protocol",
            "What the EiG-Search paper prints. Most baselines' values are copied from their "
            "authors, whose protocols differ from one another and from all of ours, so this table "
            "and the one above cannot be compared line by line.",
            table=Table(with_display_names(_frame(lines))),
        )
    ]


def _frame(lines: list[dict[str, object]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(lines)


def auc_frame(rows: pd.DataFrame) -> pd.DataFrame:
    """Return setting, explainer, and AUC by protocol, pooled and as a mean over nodes.

    Cells are empty if the type of an explainer's scores does not allow the protocol.
    """
    by, pooled = ["setting", "dataset", "explainer"], rows["pooled"].astype(bool)
    rows = rows.assign(auc_unsigned=rows["auc_unsigned"].where(_allowed(rows, "allows_absolute")))
    comparable = _allowed(rows, "is_comparable")
    over_pool = over_seeds(rows[pooled & comparable], by, list(_PROTOCOLS)).set_index(by)
    over_nodes = over_seeds(rows[~pooled], by, list(_PROTOCOLS)).set_index(by)
    table = over_nodes[[]].copy()
    for column, name in _PROTOCOLS.items():
        table[f"{name}, mean"], table[f"{name}, pooled"] = over_nodes[column], over_pool[column]
    table.insert(0, "nodes", rows[~pooled].groupby(by)["auc"].count())
    table["near, lowest"], table["near, highest"] = over_nodes["auc_low"], over_nodes["auc_high"]
    table = table.reset_index()
    return sort_by_method(table).drop(columns="dataset")


def printed_norm_frame(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the AUCs of the paper's node score by setting, and the one that the paper prints."""
    if rows.empty:
        return rows
    datasets = rows.groupby("setting")["dataset"].first()
    columns = ["near, mean", "near, pooled", "whole, mean", "whole, pooled"]
    table = auc_frame(rows)[["setting", "nodes", *columns]]
    printed = [published_value("auc", datasets[setting], OURS) for setting in table["setting"]]
    return table.assign(printed=printed)


def _allowed(rows: pd.DataFrame, property_name: str) -> pd.Series:
    """Return which rows are of explainers whose scores have a property of `ScoreType`."""
    allowed = {
        name: name not in names() or getattr(method_class(name).card.score_type, property_name)
        for name in rows["explainer"].unique()
    }
    return rows["explainer"].map(allowed).astype(bool)


def _draw(table: pd.DataFrame, theme: Theme) -> Figure:
    def draw_row(ax: Axes, position: int, colour: str, row: pd.Series) -> None:
        for protocol, mark in _MARKS.items():
            ax.plot(row[f"{protocol}, mean"], position, mark, **_mark_style(mark, colour))
        around = row["near, lowest"], row["near, highest"]
        ax.plot(around, [position, position], color=colour, lw=1.2)

    figure, axes = dot_panels(table, theme, "AUC, mean over nodes", draw_row)
    for ax in axes:
        ax.axvline(0.5, color=theme.ink, linewidth=0.5)
    legend(figure, _handles(theme), len(axes))
    return figure


def _mark_style(mark: str, colour: str) -> dict[str, Any]:
    """Return how a mark is drawn: filled where signs count, else hollow."""
    size = {"o": 6, "D": 5, "|": 11}[mark]
    return {"ms": size, "mec": colour, "mfc": colour if mark == "o" else "none", "mew": 1.4}


def _handles(theme: Theme) -> list[Line2D]:
    from matplotlib.lines import Line2D

    marks = [
        Line2D([], [], ls="", marker=mark, label=name, **_mark_style(mark, theme.ink))
        for name, mark in _MARKS.items()
    ]
    return [*marks, Line2D([], [], color=theme.ink, label="near, lowest to highest")]
