"""The networks that were explained, and how often they are right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eigsearch.bench.report.figure import ReportItem, Table
from eigsearch.bench.rows.frame import networks_of
from eigsearch.models import zoo

if TYPE_CHECKING:
    import pandas as pd


def accuracy_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return setting, number, seed and test accuracy of the zoo's networks that were explained."""
    import pandas as pd

    columns = ["setting", "network", "seed", "test accuracy"]
    if networks_of(frame) != "zoo" or "network" not in frame:
        return pd.DataFrame(columns=columns)
    used = frame[["setting", "dataset", "model", "network"]].dropna().drop_duplicates()
    known = pd.MultiIndex.from_tuples(zoo.names())
    used = used[pd.MultiIndex.from_frame(used[["dataset", "model"]]).isin(known)]
    cards = [zoo.load(d, m, int(n))[1] for _, d, m, n in used.itertuples(index=False)]
    used = used.assign(
        seed=[card.recipe.seed for card in cards],
        **{"test accuracy": [card.accuracy.test for card in cards]},
    )
    return used.sort_values(["setting", "network"])[columns].astype({"network": int})


def network_items(frame: pd.DataFrame) -> list[ReportItem]:
    """Return the accuracies of the zoo's networks, where they are what was explained."""
    table = accuracy_frame(frame)
    if table.empty:
        return []
    return [
        ReportItem(
            "networks",
            "The networks",
            "Number 0 is the zoo's own, whose card tells how it was chosen; the others are the "
            "same recipe with the next seeds, trained once, none of them chosen. Each has a split "
            "of its own.",
            table=Table(table),
        )
    ]
