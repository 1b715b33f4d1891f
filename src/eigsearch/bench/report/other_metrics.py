"""Beyond the paper: metrics that EiG-Search did not optimise, sizes, agreement, ground truth."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from eigsearch.bench.report.equal_search import at_middle_limit
from eigsearch.bench.report.figure import ReportItem, Table
from eigsearch.bench.report.search_comparison import ours
from eigsearch.bench.report.theme import Theme, panels, shades
from eigsearch.bench.rows.frame import (
    OURS,
    RELATIVES,
    display_name,
    paper_comparison,
    section,
    settings_of,
    sort_by_method,
    sort_explainers,
    with_display_names,
)
from eigsearch.metrics import METRICS
from eigsearch.visualization.colors import BLUE

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_SEEN = ("gain", "characterization", "label_gain")
_UNSEEN = ("robust_gain", "noise_stability", "relabelling_stability")
_SAME = 0.95  # rankings with more overlap are practically equal
_STRONG = 0.55  # cells above this overlap are dark and get light text


def other_metric_items(frame: pd.DataFrame) -> list[ReportItem]:
    """Return the tables and figures that the paper does not have."""
    return [*_metrics(frame), *_truth(frame), *_sizes(frame), *_agreement(frame)]


def metric_frame(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the metrics of each explainer, and where a baseline leads.

    Means are over the settings that most methods serve, at the middle limit; robust gain and
    stability are those of smaller samples.
    """
    rows = _served_by_most(at_middle_limit(paper_comparison(frame)))
    wide = rows.groupby("explainer")[list(_SEEN)].mean()
    stable = paper_comparison(frame, "stability")
    wide = wide.join(stable.groupby("explainer")[list(_UNSEEN)].mean())
    wide.insert(0, "graphs", rows.groupby("explainer").size())
    wide = wide.loc[sort_explainers(wide.index)]
    red = wide.drop(columns="graphs").apply(lambda c: c == c.max())
    red.loc[[name for name in (OURS, *RELATIVES) if name in red.index]] = False
    red.insert(0, "graphs", False)
    return wide, red


def _metrics(frame: pd.DataFrame) -> list[ReportItem]:
    wide, red = metric_frame(frame)
    if wide.empty:
        return []
    rows = _served_by_most(at_middle_limit(paper_comparison(frame)))
    table = wide.reset_index(names="method")
    table["method"] = table["method"].map(display_name)
    definitions = " ".join(f"{name}: {METRICS[name].definition}" for name in (*_SEEN, *_UNSEEN))
    limit = rows["limit"].iloc[0]
    return [
        ReportItem(
            "metrics",
            "Metrics that EiG-Search does not optimise",
            f"Means over the settings {', '.join(settings_of(rows))} at limit {limit}; EiG-Search "
            "searches, baselines have a fixed size. Robust gain and stability are those of "
            f"smaller samples. {definitions} Higher is better in every "
            "column. A search may return fewer edges than the fixed size, which robust gain does "
            "not reward; Random does not look at features, so noise cannot change it. Red: a "
            "baseline leads.",
            table=Table(table, red.reset_index(names="method").assign(method=False)),
        )
    ]


def _served_by_most(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the settings with the most methods: means are over the same ones."""
    count = rows.groupby("setting")["explainer"].transform("nunique")
    return rows[count == count.max()]


def _truth(frame: pd.DataFrame) -> list[ReportItem]:
    rows = at_middle_limit(paper_comparison(frame))
    rows = rows[rows["auc"].notna()]
    if rows.empty:
        return []
    wide = rows.groupby(["setting", "explainer"])[["auc", "precision", "recall"]].mean()
    wide.insert(0, "graphs", rows.groupby(["setting", "explainer"]).size())
    table = sort_by_method(wide.reset_index())
    best = table.groupby("setting")["auc"].transform("max")
    red = table.map(lambda _: False)
    red["auc"] = (table["auc"] == best) & (table["explainer"] != OURS)
    return [
        ReportItem(
            "truth",
            "Finding what is known to matter",
            "Edges of the planted motif on BA-2Motifs, NO2 and NH2 on Mutagenicity (graphs that "
            "have them). AUC of the scores over all edges of a graph, precision and recall of the "
            "subgraph; means over graphs. A network need not use what is known to matter, so these "
            "say as much about the network. Red: a baseline leads.",
            table=Table(with_display_names(table), red),
        )
    ]


def _sizes(frame: pd.DataFrame) -> list[ReportItem]:
    rows = ours(section(frame, "fidelity"))
    rows = rows[rows["limit"] == rows["limit"].min()]
    if rows.empty:
        return []
    summary = rows.assign(share=rows["size"] / rows["num_groups"]).groupby("setting")
    table = summary[["size", "share"]].describe(percentiles=[0.25, 0.5, 0.75])
    table = table.loc[:, (slice(None), ["mean", "25%", "50%", "75%"])]
    table.columns = [f"{name} {what}" for name, what in table.columns]
    return [
        ReportItem(
            "sizes",
            "The sizes that EiG-Search finds",
            f"Edges of the subgraph that the sweep chose under the limit {rows['limit'].iloc[0]}: "
            "at most half of the graph. A fixed size for all graphs would miss most of them.",
            draw=lambda theme: _histograms(rows, theme),
            table=Table(table.reset_index(), digits=2),
        )
    ]


def _histograms(rows: pd.DataFrame, theme: Theme) -> Figure:
    from matplotlib.ticker import MaxNLocator

    settings = settings_of(rows)
    figure, axes = panels(settings, height=2.0)
    for ax, setting in zip(axes, settings, strict=True):
        sizes = rows[rows["setting"] == setting]["size"]
        bins = np.arange(int(sizes.min()) - 0.5, int(sizes.max()) + 1.5).tolist()
        ax.hist(sizes, bins=bins, color=theme.line(OURS)["color"], rwidth=0.85)
        ax.set_xlabel("size (edges)")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_ylabel("graphs")
    return figure


def _agreement(frame: pd.DataFrame) -> list[ReportItem]:
    rows = at_middle_limit(section(frame, "fidelity"))
    rows = rows[(rows["search"] == "fixed") & rows["keep"].notna()]
    names = sort_explainers(rows["explainer"])
    if len(names) < 2:
        return []
    matrix = agreement(rows, names)
    return [
        ReportItem(
            "agreement",
            "Which methods agree",
            "Mean Jaccard overlap |A ∩ B| / |A ∪ B| of the edges that two methods choose on the "
            f"same graph, both cut at sparsity {rows['limit'].iloc[0]}; all settings. Compare with "
            "the row of Random, which is chance.",
            draw=lambda theme: _heat(matrix, names, theme),
        )
    ]


def agreement(rows: pd.DataFrame, names: list[str]) -> np.ndarray:
    """Return the mean Jaccard overlap of each pair of explainers, 1 on the diagonal."""
    graphs = rows.groupby(["setting", "seed", "graph"])
    matrix, counts = np.zeros((len(names),) * 2), np.zeros((len(names),) * 2)
    for _, group in graphs:
        chosen = {
            names.index(name): set(keep)
            for name, keep in zip(group["explainer"], group["keep"], strict=True)
        }
        for left, right in combinations(sorted(chosen), 2):
            union = chosen[left] | chosen[right]
            overlap = chosen[left] & chosen[right]
            matrix[left, right] += len(overlap) / len(union) if union else 1.0
            counts[left, right] += 1
    matrix, counts = matrix + matrix.T, counts + counts.T
    means = np.divide(matrix, counts, out=np.full_like(matrix, np.nan), where=counts > 0)
    np.fill_diagonal(means, 1.0)
    return means


def same_choices(frame: pd.DataFrame) -> list[tuple[str, str, float]]:
    """Return the pairs of explainers whose cuts are nearly the same edges, and their overlap."""
    rows = at_middle_limit(section(frame, "fidelity"))
    rows = rows[(rows["search"] == "fixed") & rows["keep"].notna()]
    names = sort_explainers(rows["explainer"])
    matrix = agreement(rows, names)
    pairs = combinations(range(len(names)), 2)
    return [
        (names[left], names[right], float(matrix[left, right]))
        for left, right in pairs
        if matrix[left, right] > _SAME
    ]


def _heat(matrix: np.ndarray, names: list[str], theme: Theme) -> Figure:
    figure, (ax,) = panels([""], height=1.8 + 0.24 * len(names))
    others = np.where(np.eye(len(names), dtype=bool), np.nan, matrix)
    ax.imshow(others, cmap=shades(theme, BLUE), vmin=0, vmax=1, aspect="auto")
    ax.grid(visible=False)
    shown = [display_name(name) for name in names]
    ax.set_xticks(range(len(names)), shown, rotation=60, ha="right", fontsize=8)
    ax.set_yticks(range(len(names)), shown, fontsize=8)
    for (row, column), value in np.ndenumerate(others):
        if value == value:
            tone = theme.paper if value > _STRONG else theme.ink
            ax.text(
                column,
                row,
                f"{value:.2f}".lstrip("0"),
                ha="center",
                va="center",
                fontsize=6,
                color=tone,
            )
    return figure
