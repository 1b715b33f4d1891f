"""The options of a counterfactual: the wanted prediction, and the allowed changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from torch import Tensor

from eigsearch._utils.fingerprint import digest_of
from eigsearch.counterfactual.search import SEARCHES
from eigsearch.errors import InputError
from eigsearch.inputs.arguments import parse_value
from eigsearch.options import Options, make_options
from eigsearch.search.sizes import check_size

# Options of `explain` that counterfactuals share; searches and rankers are not among them.
SHARED = (
    *("groups", "reverse", "target_link", "return_type", "task", "arguments", "levels", "forward"),
    *("engine", "max_batch_nodes", "max_memory"),
)
OTHERS = tuple(f.name for f in fields(Options) if f.name not in SHARED)


@dataclass(frozen=True, eq=False, kw_only=True)
class FlipOptions:
    """The options of `flip` and `flip_dataset`; every field is a keyword.

    Attributes:
        to: The class that is wanted, None for any other; for a regression, the value to cross.
        add: Whether edges may be added, or the pairs of nodes that may be joined.
        answers: How many different sets to find.
        max_size: The most edges to change.
        search: The name of the search.
        atoms: The element of each `data.node_label`, or of each node, if the graph is a molecule.
        bonds: The orders that the columns of `data.edge_attr` stand for.
    """

    to: int | float | None = None
    add: bool | Tensor | Sequence[Sequence[int]] = False
    answers: int = 1
    max_size: int = 20
    search: str = "greedy"
    atoms: Sequence[str] | None = None
    bonds: Sequence[str] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "to", parse_value("to", self.to))
        check_size(self.max_size, "max_size")
        check_size(self.answers, "answers", "answers")
        if self.add is None or isinstance(self.add, str):
            raise InputError(
                f"Expected `add` to be True, False or pairs of nodes (got {self.add!r}). Pass True "
                "for pairs that share a neighbour."
            )
        if self.search not in SEARCHES:
            raise InputError(
                f"Expected `search` to be one of {', '.join(SEARCHES)} (got {self.search!r}). "
                "Choose one of these."
            )

    @property
    def has_own_pairs(self) -> bool:
        """Whether the user names the pairs that may be joined."""
        return not isinstance(self.add, bool)

    def describe(self) -> dict[str, Any]:
        """Return the options as JSON values."""
        add = digest_of([{"add": self.add}]) if self.has_own_pairs else self.add
        return {
            "flip": self.search,
            "to": self.to,
            "add": add,
            "answers": self.answers,
            "max_size": self.max_size,
            **{name: list(names) for name, names in self._molecules.items()},
        }

    @property
    def _molecules(self) -> dict[str, Sequence[str]]:
        """The options about molecules."""
        given = {"atoms": self.atoms, "bonds": self.bonds}
        return {name: names for name, names in given.items() if names is not None}


def shared_options(keywords: dict[str, Any]) -> Options:
    """Return the options that a counterfactual shares with other explanations.

    Raises:
        TypeError: If a keyword is not an option of counterfactuals.
    """
    for name in keywords:
        if name in ("rather_than", "above"):
            raise TypeError(
                f"Expected no option `{name}` of a counterfactual (got one). Pass `to`, the class "
                "that is wanted or the value to cross."
            )
        if name in OTHERS:
            raise TypeError(
                f"Expected no option `{name}` of a counterfactual (got one). Leave it out: which "
                "edges to change is searched among all of them."
            )
        if name not in SHARED:
            known = [*SHARED, "node", "link", "target", *(f.name for f in fields(FlipOptions))]
            raise TypeError(
                f"Expected a keyword of a counterfactual (got `{name}`). Choose from "
                f"{', '.join(known)}."
            )
    return make_options(keywords)


def describe(options: Options, flip: FlipOptions) -> dict[str, Any]:
    """Return the configuration of counterfactuals as plain values."""
    shared = {name: value for name, value in options.describe().items() if name not in OTHERS}
    return {**shared, **flip.describe()}
