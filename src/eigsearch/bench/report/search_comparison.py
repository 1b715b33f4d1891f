"""Compare searches: gain over each ranking, cost, and distance from the optimum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eigsearch.bench.report.figure import ReportItem, Table
from eigsearch.bench.report.theme import Theme, legend, panels
from eigsearch.bench.rows.frame import OURS, over_seeds, section, settings_of
from eigsearch.visualization.colors import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_SEARCHES = {
    "sweep": VERMILION,  # the paper's, as EiG-Search is drawn everywhere
    "resweep": BLUE,
    "refine": GREEN,
    "anchored": PURPLE,
    "exhaustive": ORANGE,
}


def search_items(frame: pd.DataFrame) -> list[ReportItem]:
    """Return how the searches differ on EiG-Search's ranking."""
    return [*_every_search(frame), *_optimum(frame)]


def _every_search(frame: pd.DataFrame) -> list[ReportItem]:
    rows = section(frame, "searches")
    if rows.empty:
        return []
    rows = rows.assign(asked=rows["evaluations"] + rows["num_groups"] + 1)
    columns = ["gain", "sparsity", "robust_gain", "precision", "recall", "asked"]
    curves = over_seeds(rows, ["setting", "search", "limit"], columns)
    table = rows.groupby(["search", "limit"], sort=False)[columns].mean().reset_index()
    table = table.rename(columns={"asked": "evaluations"}).dropna(axis=1, how="all")
    means = curves[[c for c in curves if not c.endswith(("_low", "_high"))]]
    means = means.dropna(axis=1, how="all")  # not every plan measures robust gain
    text = (
        "The same linear gradients under every search and limit. Gain is what searches maximise; "
        "robust gain, precision and recall (against planted motifs and, on Mutagenicity, NO2 and "
        "NH2) are not. Evaluations are candidates given to the model, the ranking's included. "
        "Two warnings. A search that prefers small subgraphs has a higher sparsity, and so looks "
        "better on this plot than it is. And a deeper search on the reported metric drifts from "
        "the planted motif: read gain together with precision and recall."
    )
    return [
        ReportItem(
            "searches",
            "Every search at every limit",
            text,
            draw=lambda theme: _search_lines(curves, theme),
            table=Table(table),
        ),
        ReportItem(
            "searches_by_setting",
            "Every search, setting by setting",
            "As above, for each setting.",
            table=Table(means.rename(columns={"asked": "evaluations"})),
        ),
    ]


def _search_lines(curves: pd.DataFrame, theme: Theme) -> Figure:
    settings = settings_of(curves)
    figure, axes = panels(settings)
    for ax, setting in zip(axes, settings, strict=True):
        for name in [s for s in _SEARCHES if s in set(curves["search"])]:
            chosen = (curves["setting"] == setting) & (curves["search"] == name)
            line = curves[chosen].sort_values("sparsity")
            colour = theme.colour(_SEARCHES.get(name, GREY))
            ax.plot(line["sparsity"], line["gain"], marker="o", ms=3, color=colour, label=name)
            around = line["gain_low"], line["gain_high"]
            ax.fill_between(line["sparsity"], *around, color=colour, alpha=0.12, linewidth=0)
        ax.set_xlabel("average sparsity")
    axes[0].set_ylabel("overall fidelity")
    legend(figure, axes[0].get_legend_handles_labels()[0], len(settings))
    return figure


def _optimum(frame: pd.DataFrame) -> list[ReportItem]:
    gaps = optimum_gaps(frame)
    if gaps.empty:
        return []
    table = gaps.pivot(index="setting", columns="search", values="gap").reset_index()
    count = section(frame, "optimum").groupby("setting")["graph"].nunique()
    table.insert(1, "graphs", table["setting"].map(count))
    order = [c for c in ("setting", "graphs", *_SEARCHES) if c in table]
    return [
        ReportItem(
            "optimum",
            "How far from the best subgraph there is",
            "The mean gain that is missing to the best of all subgraphs of the allowed sizes "
            "(limit 0.5), found by trying every one, on graphs of at most 14 edges. 0 is the "
            "optimum.",
            table=Table(table[order]),
        )
    ]


def optimum_gaps(frame: pd.DataFrame) -> pd.DataFrame:
    """Return setting, search and the mean gain that is missing to the exhaustive search."""
    rows = section(frame, "optimum")
    same = ["setting", "seed", "graph"]
    best = rows[rows["search"] == "exhaustive"][[*same, "gain"]].rename(columns={"gain": "best"})
    others = rows[rows["search"] != "exhaustive"].merge(best, on=same)
    others = others.assign(gap=others["best"] - others["gain"])
    return others.groupby(["setting", "search"], sort=False)["gap"].mean().reset_index()


def ours(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of EiG-Search as the paper runs it."""
    return frame[(frame["explainer"] == OURS) & (frame["search"] == "sweep")]
