"""The qualitative table: explanations of the same graphs by each method."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import torch
from torch_geometric.data import Data

from eigsearch import datasets
from eigsearch.bench.report.equal_search import at_middle_limit
from eigsearch.bench.report.figure import ReportItem
from eigsearch.bench.report.theme import Theme
from eigsearch.bench.rows.frame import display_name, paper_comparison, settings_of, sort_explainers
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.visualization import Names, plot

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_CELL = (2.1, 1.6)


def qualitative_items(frame: pd.DataFrame) -> list[ReportItem]:
    """Return the grid of pictures, methods by settings."""
    rows = at_middle_limit(paper_comparison(frame))
    rows = rows[rows["picture"].notna()]
    if rows.empty:
        return []
    rows = rows.sort_values("seed").drop_duplicates(["setting", "explainer"])
    return [
        ReportItem(
            "pictures",
            "What each method shows",
            "One graph of each setting, the first of the first seed's sample: the same for every "
            "method of a column. The chosen subgraph is shaded; the colour of a bond is its score, "
            "for (orange) or against (blue) the class. Molecules are drawn as molecules. Limit "
            f"{rows['limit'].iloc[0]}.",
            draw=lambda theme: _grid(rows, theme),
            detailed=True,
        )
    ]


def _grid(rows: pd.DataFrame, theme: Theme) -> Figure:
    from matplotlib.figure import Figure

    settings, names = settings_of(rows), sort_explainers(rows["explainer"])
    size = (_CELL[0] * len(settings), _CELL[1] * len(names))
    figure = Figure(figsize=size, facecolor="#ffffff")  # explanations are drawn for white paper
    axes = figure.subplots(len(names), len(settings), squeeze=False)
    figure.subplots_adjust(left=0.09, right=0.995, top=0.97, bottom=0.005, wspace=0.05, hspace=0.1)
    cells = rows.set_index(["explainer", "setting"])["picture"].to_dict()
    for row, name in enumerate(names):
        for column, setting in enumerate(settings):
            ax = axes[row][column]
            ax.axis("off")
            if (name, setting) in cells:
                explanation, known = _explanation(cells[name, setting], setting)
                plot(explanation, ax, known)
            if row == 0:
                middle_of = (ax.get_position().x0 + ax.get_position().x1) / 2
                figure.text(middle_of, 0.985, setting, ha="center", fontsize=9, color="#1c1e21")
            if column == 0:
                words = {"transform": ax.transAxes, "ha": "right", "va": "center", "fontsize": 8}
                ax.text(-0.03, 0.5, display_name(name), color="#1c1e21", **words)
    return figure


def _explanation(text: str, setting: str) -> tuple[SubgraphExplanation, Names]:
    """Return the explanation that a row keeps whole, and what its nodes are called."""
    values = json.loads(text)
    info = datasets.info(setting.rpartition(" ")[0])
    edges = torch.tensor(values["edge_index"], dtype=torch.long).reshape(2, -1)
    data = Data(edge_index=edges, num_nodes=values["num_nodes"])
    if values["node_label"] is not None:
        data.node_label = torch.tensor(values["node_label"])
    names = Names(info.name, info.class_names, info.node_names)
    return SubgraphExplanation.from_dict(values, data), names
