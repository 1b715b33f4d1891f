"""Our points beside the published curve of EiG-Search, and why some are below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eigsearch.bench.report.figure import ReportItem, Table
from eigsearch.bench.rows.frame import OURS, networks_of, over_seeds, section
from eigsearch.bench.rows.published import published_line

if TYPE_CHECKING:
    import pandas as pd

_HALF = 0.5  # of two classes, the one above it is predicted
_WHOSE = {
    "zoo": "The networks are others, so the curve is a landmark and no target.",
    "published": "These are the networks that the paper explains; the samples are ours.",
}


def published_items(frame: pd.DataFrame) -> list[ReportItem]:
    """Return the points beside the published curve, and what the planted motif itself gains."""
    return [*_points(frame), *_motifs(frame)]


def point_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return, for each search, setting and limit, our gain and what the curve has there.

    The curve is read at the average sparsity that the search found: `missing` is how far we are
    below it. Settings without a published curve have no rows.
    """
    rows = section(frame, "searches")
    if rows.empty:
        rows = section(frame, "fidelity")
        rows = rows[(rows["explainer"] == OURS) & (rows["search"] == "sweep")]
    curves = over_seeds(rows, ["search", "setting", "limit"], ["sparsity", "gain"])
    curves = curves[[c for c in curves if not c.endswith(("_low", "_high"))]]
    printed = [_printed(*point) for point in curves[["setting", "sparsity"]].to_numpy()]
    curves = curves.assign(printed=printed).dropna(subset=["printed"])
    return curves.assign(missing=curves["printed"] - curves["gain"])


def _printed(setting: str, sparsity: float) -> float:
    """Return the published gain of EiG-Search at a sparsity, NaN without a curve."""
    line = published_line("gain", setting, OURS)
    if not len(line):
        return float("nan")
    return float(np.interp(sparsity, line["sparsity"], line["value"]))


def motif_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return, by setting and class, what the true edges gain and what searches do instead.

    `rest` is φ of the graph without the explanation: where it is high for the motif's, nothing is
    lost with the motif, and a gain can come only from a rest that the network takes for another
    class. `flipped` is the share of explanations whose rest it does.
    """
    by = ["setting", "target"]
    known = section(frame, "motif")
    if known.empty:
        return known
    known = over_seeds(known, by, ["kept", "removed", "gain"]).set_index(by)
    columns = {"kept": "motif alone", "removed": "rest without it", "gain": "gain of the motif"}
    table = known[list(columns)].rename(columns=columns)
    rows = section(frame, "searches")
    rows = rows[(rows["limit"] == rows["limit"].min()) & rows["recall"].notna()]
    rows = rows.assign(flipped=(rows["removed"] < _HALF).astype(float))
    for name, found in rows.groupby("search", sort=False):
        means = over_seeds(found, by, ["gain", "removed", "flipped", "recall"]).set_index(by)
        table[f"gain, {name}"] = means["gain"]
        table[f"rest, {name}"] = means["removed"]
        table[f"rest is another class, {name}"] = means["flipped"]
        table[f"motif found, {name}"] = means["recall"]
    return table.reset_index().rename(columns={"target": "class"}).astype({"class": int})


def motif_reasons(frame: pd.DataFrame) -> list[str]:
    """Return, for each setting and class whose motif gains little, what the network does with it.

    A gain near 1 needs a subgraph that has the class and a rest that has not. Where the true edges
    lack one of the two, it takes another subgraph, and the sentence says what `refine` does.
    """
    return [
        f"{row['setting']}, class {row['class']}: {_use(row)}. The motif gains "
        f"{row['gain of the motif']:.2f}, `refine` reaches {row['gain, refine']:.2f}; the rest of "
        f"its subgraphs is given to another class in {row['rest is another class, refine']:.0%} of "
        f"graphs, and they hold {row['motif found, refine']:.0%} of the motif."
        for row in motif_frame(frame).to_dict("records")
        if row["gain of the motif"] < _HALF and "gain, refine" in row
    ]


def _use(row: dict[str, Any]) -> str:
    """Return how a network uses a motif that gains little."""
    alone, rest = row["motif alone"], row["rest without it"]
    if rest > _HALF:
        return (
            f"without its motif a graph keeps the class (probability {rest:.2f}), so nothing is "
            "lost with it, and a gain takes a rest that looks like the other class"
        )
    return f"the motif alone does not have the class (probability {alone:.2f}): it needs its base"


def _points(frame: pd.DataFrame) -> list[ReportItem]:
    points = point_frame(frame)
    if points.empty:
        return []
    red = points.map(lambda _: False)
    red["missing"] = points["missing"] > 0
    return [
        ReportItem(
            "published",
            "Our points and the published curve",
            "Gain of each search over the linear gradients at each limit, and the published gain "
            "of EiG-Search at the average sparsity that the search found (interpolated). "
            f"{_WHOSE[networks_of(frame)]} Red: below the curve.",
            table=Table(points, red),
        )
    ]


def _motifs(frame: pd.DataFrame) -> list[ReportItem]:
    table = motif_frame(frame)
    if table.empty:
        return []
    return [
        ReportItem(
            "motifs",
            "What the true edges gain themselves",
            "The probability of the class for the true edges alone, for the graph without them, "
            "and their gain as an explanation; beside it what the searches find at the lowest "
            "limit: their gain, the probability that is left in the rest, the share of graphs "
            "whose rest is given to another class, and how much of the motif was found. Graphs "
            "with edges that are known to matter.",
            table=Table(table),
        )
    ]
