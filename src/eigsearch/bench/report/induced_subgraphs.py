"""Compare inducing techniques: by edges, by nodes, and by both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eigsearch.bench.report.figure import ReportItem, Table
from eigsearch.bench.report.theme import Theme, legend, panels
from eigsearch.visualization.colors import BLUE, PURPLE, VERMILION

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_TECHNIQUES = {
    "edges": ("edge-induced", VERMILION),
    "nodes": ("node-induced", BLUE),
    "nodes_and_edges": ("node-and-edge-induced", PURPLE),
}


def induced_subgraph_items(frame: pd.DataFrame) -> list[ReportItem]:
    """Return intuitiveness and exhaustiveness of the three techniques."""
    rows = frame[frame["technique"].isin(_TECHNIQUES) & (frame["status"] == "ok")]
    if rows.empty:
        return []
    by = ["dataset", "technique"]
    means = rows.groupby(by, sort=False)[["intuitiveness", "exhaustiveness"]].mean().reset_index()
    text = (
        "Intuitiveness: the share of the components of an explanation that have an edge. "
        "Exhaustiveness: the share of the connected subgraphs of a graph that the technique can "
        "reach, counted on graphs of at most 18 edges (Lu et al. 2024, Definitions 3.1, 3.2). The "
        "same linear gradients throughout: the best edges; as many nodes as those have, by the "
        "mean score of their edges; and both together. Higher is better."
    )
    names = {key: name for key, (name, _) in _TECHNIQUES.items()}
    return [
        ReportItem(
            "inducing",
            "Inducing subgraphs by edges, by nodes, and by both",
            text,
            draw=lambda theme: _bars(means, theme),
            table=Table(means.assign(technique=means["technique"].map(names))),
        )
    ]


def _bars(means: pd.DataFrame, theme: Theme) -> Figure:
    metrics = [m for m in ("intuitiveness", "exhaustiveness") if means[m].notna().any()]
    figure, axes = panels(metrics, height=2.6)
    for ax, metric in zip(axes, metrics, strict=True):
        datasets = sorted(means[means[metric].notna()]["dataset"].unique())
        for number, (technique, (name, colour)) in enumerate(_TECHNIQUES.items()):
            values = means[means["technique"] == technique].set_index("dataset")[metric]
            positions = [at + 0.27 * (number - 1) for at in range(len(datasets))]
            heights = [values.get(dataset, float("nan")) for dataset in datasets]
            ax.bar(positions, heights, width=0.25, color=theme.colour(colour), label=name)
        ax.set_xticks(range(len(datasets)), datasets, fontsize=8)
        ax.set_ylim(0, 1.05)
        ax.grid(axis="x", visible=False)
    legend(figure, axes[0].get_legend_handles_labels()[0], len(metrics))
    return figure
