"""Benchmark rows as a pandas frame: selection, ordering, means over seeds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from eigsearch._utils.importing import is_import_name
from eigsearch.bench.rows.results import Results
from eigsearch.bench.run.own_parts import short_name
from eigsearch.errors import MissingExtraError
from eigsearch.explainers.registry import method_class
from eigsearch.explainers.registry import names as registered_names

if TYPE_CHECKING:
    import pandas as pd

OURS = "eig_search"
OWN = "own:"  # before the names of metrics of the user


def read_frame(path: str | Path) -> pd.DataFrame:
    """Return all rows of a directory of results, with a column `setting` such as `MUTAG gcn`."""
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise MissingExtraError("pandas", "bench", "read benchmark rows") from None
    frame = Results(path).read().to_pandas()
    frame["setting"] = frame["dataset"].map(short_name) + " " + frame["model"].map(_network)
    frame = _with_own_metrics(frame)
    # Precision is undefined where a graph has no true edges (recall is NaN there).
    frame["precision"] = frame["precision"].where(frame["recall"].notna())
    return frame


def _network(name: str) -> str:
    """Return what reports call a network: those of the zoo in capitals."""
    return short_name(name) if is_import_name(name) else name.upper()


def _with_own_metrics(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with a column for each metric of the user, `own:` before its name."""
    import pandas as pd

    own = frame.pop("own_metrics").map(
        lambda text: json.loads(text) if isinstance(text, str) else {}
    )
    columns = pd.DataFrame(own.tolist(), index=frame.index).add_prefix(OWN)
    return frame.join(columns) if len(columns.columns) else frame


def networks_of(frame: pd.DataFrame) -> str:
    """Return whose networks the rows are about, `"zoo"` or `"published"`."""
    return str(frame["networks"].fillna("zoo").iloc[0]) if "networks" in frame else "zoo"


def section(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the rows of one experiment that were explained."""
    return frame[(frame["section"] == name) & (frame["status"] == "ok")]


def paper_comparison(frame: pd.DataFrame, name: str = "fidelity") -> pd.DataFrame:
    """Return the rows that the paper compares: EiG-Search searches, baselines are cut."""
    rows = section(frame, name)
    wanted = rows["explainer"].eq(OURS).map({True: "sweep", False: "fixed"})
    return rows[rows["search"] == wanted]


def over_seeds(frame: pd.DataFrame, by: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """Return the mean over seeds of the means over predictions, and `…_std` over seeds.

    The standard deviation is 0 where there is one seed.
    """
    seeds = frame.groupby([*by, "seed"], sort=False)[list(columns)].mean()
    grouped = seeds.groupby(level=list(range(len(by))), sort=False)
    std = grouped.std().fillna(0.0).add_suffix("_std")
    return grouped.mean().join(std).reset_index()


def sort_explainers(names: Sequence[str]) -> list[str]:
    """Return explainers in the order of the registry, EiG-Search first."""
    known = registered_names()
    return sorted(set(names), key=lambda name: (known.index(name) if name in known else 99, name))


def sort_by_method(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table sorted by setting, and then by method in the order of the registry."""
    order = sort_explainers(table["explainer"])
    position = table["explainer"].map(order.index)
    ordered = table.assign(position=position).sort_values(["setting", "position"])
    return ordered.drop(columns="position")


def settings_of(frame: pd.DataFrame) -> list[str]:
    """Return the settings of rows, in the order of the alphabet."""
    return sorted(frame["setting"].unique())


def display_name(name: str) -> str:
    """Return the display name of an explainer.

    >>> display_name("gradcam")
    'Grad-CAM'
    """
    return method_class(name).card.name if name in registered_names() else short_name(name)


def with_display_names(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with display names in the column `explainer`."""
    return table.assign(explainer=table["explainer"].map(display_name))
