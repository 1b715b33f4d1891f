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
RELATIVES = ("occlusion", "output_norm")  # EiG-Search's own ranking in other units: no baselines
_SAME_RANKING = {
    "occlusion": "Occlusion (the same ranking, in probabilities)",
    "output_norm": "Output norm (the paper's node score)",
}
OWN = "own:"  # before the names of metrics of the user


def read_frame(path: str | Path) -> pd.DataFrame:
    """Return all rows of a directory of results, with a column `setting` such as `MUTAG gcn`."""
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise MissingExtraError("pandas", "bench", "read benchmark rows") from None
    frame = Results(path).read().to_pandas()
    numbers = frame.select_dtypes("float32").columns
    frame[numbers] = frame[numbers].astype("float64")  # sums over many rows
    frame["setting"] = frame["dataset"].map(short_name) + " " + frame["model"].map(_network)
    frame = _with_own_metrics(frame)
    # Precision is undefined where a graph has no true edges (recall is NaN there).
    frame["precision"] = frame["precision"].where(frame["recall"].notna())
    return frame


def _network(name: str) -> str:
    """Return the name of a network in reports; those of the zoo are in capitals."""
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
    """Return the origin of the networks in the rows: `"zoo"` or `"published"`."""
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
    """Return the mean over seeds of the means over predictions, and `…_low`, `…_high` of seeds.

    Each seed has a sample of its own and, in plans that say so, a network of its own.
    """
    seeds = frame.groupby([*by, "seed"], sort=False)[list(columns)].mean()
    grouped = seeds.groupby(level=list(range(len(by))), sort=False)
    low, high = grouped.min().add_suffix("_low"), grouped.max().add_suffix("_high")
    return grouped.mean().join(low).join(high).reset_index()


def repeats_of(frame: pd.DataFrame) -> str:
    """Return the meaning of seeds in the rows: `"networks"`, or `"samples"` of one network."""
    several = "network" in frame and frame["network"].nunique() > 1
    return "networks" if several else "samples"


def interval(mean: float, low: float, high: float, digits: int = 2) -> str:
    """Return a mean with the lowest and the highest of what it is over, as a cell of a table.

    >>> interval(0.5, -0.25, 0.75)
    '0.50 (−0.25 to 0.75)'
    """
    if mean != mean:
        return ""
    return f"{mean:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})".replace("-", "−")


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
    if name in _SAME_RANKING:
        return _SAME_RANKING[name]
    return method_class(name).card.name if name in registered_names() else short_name(name)


def with_display_names(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with display names in the column `explainer`."""
    return table.assign(explainer=table["explainer"].map(display_name))
