"""Options: every keyword of `explain`, declared once together with its help text."""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import lru_cache
from numbers import Real
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from eigsearch.errors import InputError

if TYPE_CHECKING:  # torch takes seconds to import, and `--help` reads this module
    from eigsearch.inference.model_call import Forward
    from eigsearch.inputs.edge_groups import GroupSpec
    from eigsearch.inputs.feature_groups import BaselineSpec, FeatureSpec
    from eigsearch.inputs.relations import Reverse
    from eigsearch.ranking.rankers import CandidateRanker, Ranker
    from eigsearch.search import Search

Function = TypeVar("Function", bound=Callable[..., Any])


WHAT, HOW = "What to explain", "How to explain"  # panels of the command line's help


def _option(default: Any, help: str, panel: str | None = HOW) -> Any:
    """Declare an option; `panel` is where the command line lists its flag, None if it has none."""
    return field(default=default, metadata={"help": help, "panel": panel})


@dataclass(frozen=True, eq=False, kw_only=True)
class Options:
    """How to explain. Every field is a keyword of `explain` and `explain_dataset`."""

    sparsity: float = _option(
        0.5, "The share of groups that an explanation leaves out at least; 0.0 sets no limit."
    )
    min_size: int = _option(
        2,
        "The smallest size to try, or all groups but one where there are fewer; it goes before "
        "`sparsity`.",
    )
    max_size: int | None = _option(
        None,
        "The largest size to try, beside `sparsity`; by default `sparsity` alone sets the limit.",
    )
    connected: bool = _option(
        False,
        "Whether the explanation has to be in one piece, around the node if a node is explained.",
    )
    rather_than: int | None = _option(
        None,
        "The class to explain the target against, instead of all other classes: φ is "
        "log p(target) − log p(rather_than).",
        panel=WHAT,
    )
    above: float | None = _option(
        None,
        "For a regression: explain why the value is above this one, so that only what holds it up "
        "counts, and not what holds it down.",
        panel=WHAT,
    )
    groups: GroupSpec = _option(
        "auto",
        "What is removed together: `auto` and `undirected` join an edge with its reverse, "
        "`directed` does not, `relation` joins all edges of a type, `none` removes no edge, for "
        "features alone; in Python also a partition as one integer per edge (of a typed graph by "
        "edge type), -1 for edges that are never removed.",
    )
    reverse: Reverse | None = _option(
        None,
        "Which relations of a typed graph hold the reverses of others, where neither names "
        "(`rev_…`) nor pairs say so: {'buys': 'bought_by'}; None for a relation whose edges are "
        "removed without their reverses.",
        panel=None,
    )
    target_link: str = _option(
        "keep",
        "Whether an explained link that is an edge of the graph stays there: `keep` explains the "
        "graph as it is, `drop` removes the edges between its ends first.",
    )
    features: FeatureSpec | None = _option(
        None,
        "Which features are groups beside the edges: `columns` of `x`, the features of `nodes`, "
        "single `entries` of `x`, `edge_columns` of `edge_attr`; in Python also a partition as "
        "integers for columns [F], nodes [N] or entries [N, F], -1 for what is never replaced.",
        panel=WHAT,
    )
    baseline: BaselineSpec = _option(
        "zero",
        "What replaces features that are removed: `zero`, `mean` of the graph's own nodes or "
        "edges; in Python also a tensor [F] or [N, F].",
    )
    nodes: str = _option(
        "induced",
        "What becomes of nodes that lose all their edges: `induced` drops them, as the paper does, "
        "`keep` leaves every node in place.",
    )
    return_type: str = _option(
        "auto", "What the model returns: `raw`, `log_probs`, `probs`, or `auto`."
    )
    task: str = _option(
        "auto",
        "What the model predicts: `multiclass`, `binary`, `multilabel`, `regression`, PyG's name "
        "of a mode, or `auto`.",
    )
    arguments: Sequence[str] | None = _option(
        None,
        "The names of the arguments that the model is called with, such as (x, edge_index); by "
        "default all that its forward names and the graph has.",
        panel=None,
    )
    levels: Mapping[str, str] | None = _option(
        None,
        "What attributes belong to where lengths leave that open: `node`, `edge` or `graph` by "
        'name, such as {"temperature": "graph"}.',
        panel=None,
    )
    forward: Forward | None = _option(
        None,
        "A callable `(model, batch) -> output` for models with an unusual signature.",
        panel=None,
    )
    engine: str = _option(
        "auto",
        "What evaluates candidates: `batched` serves any model, `incremental` recomputes only "
        "what a candidate changes, `auto` takes the faster one.",
    )
    max_batch_nodes: int | None = _option(
        None, "How many nodes one model call may hold; by default what was measured to be fast."
    )
    max_memory: int | None = _option(
        None,
        "How many bytes computing may take, besides the model and the data; candidates are "
        "evaluated in smaller batches where needed. No limit by default.",
    )
    ranker: Any = _option(
        None,
        "What scores edges or nodes: `linear_gradients`, the default; `output_norm`, the paper's "
        "score for node tasks, by the change of all outputs; an explainer by name, such as `ig`; "
        "or your own: a tensor of scores, a function, an object with `rank`, an algorithm of PyG, "
        "a class of captum.",
        panel=None,
    )
    search: str | Search | None = _option(
        "sweep",
        "How a ranking becomes a subgraph: `sweep`, `resweep`, `refine`, `anchored`, "
        "`exhaustive`, or `fixed`, which cuts at `size`, else at `sparsity`; in Python also a "
        "`Search`.",
    )
    size: int | None = _option(
        None,
        "Cut the ranking at this many groups, or at all where there are fewer, instead of "
        "searching; needs search='fixed'.",
    )

    def __post_init__(self) -> None:
        from eigsearch._utils.importing import is_import_name
        from eigsearch.engines import ENGINES
        from eigsearch.inference.output_type import check_names
        from eigsearch.inputs.attributes import check_levels
        from eigsearch.search import check_min_size, check_sparsity
        from eigsearch.search.sizes import check_max_size

        check_sparsity(self.sparsity)
        check_min_size(self.min_size)
        check_max_size(self.max_size, self.min_size)
        check_names(self.task, self.return_type)
        if self.engine not in ENGINES:
            raise InputError(
                f"Expected `engine` to be one of {', '.join(ENGINES)} (got {self.engine!r}). "
                "Leave it to 'auto'."
            )
        if self.nodes not in ("induced", "keep"):
            raise InputError(
                f"Expected `nodes` to be 'induced' or 'keep' (got {reprlib.repr(self.nodes)}). "
                "Choose one; the nodes to explain are passed as `node`."
            )
        if self.target_link not in ("keep", "drop"):
            raise InputError(
                f"Expected `target_link` to be 'keep' or 'drop' (got {self.target_link!r}). "
                "Choose one."
            )
        if self.reverse is not None and not isinstance(self.reverse, Mapping):
            raise InputError(
                f"Expected `reverse` to be a dict of relations (got {self.reverse!r}). Pass "
                "{'buys': 'bought_by'}, or None in place of the second for no reverse."
            )
        self._set_contrast()
        self._check_call()
        check_levels(self.levels)
        _check_positive("max_batch_nodes", self.max_batch_nodes, "the measured default")
        _check_positive("max_memory", self.max_memory, "no limit")
        self.strategy()
        if self.size is not None and self.max_size is not None and self.size > self.max_size:
            raise InputError(
                f"Expected `size` to be at most `max_size`, {self.max_size} (got {self.size}). "
                "Leave one of them out."
            )
        made = self.make_ranker()
        if is_import_name(self.ranker):  # so that a run knows its code, and not only its name
            object.__setattr__(self, "ranker", made)
        self._check_features()

    def _check_call(self) -> None:
        """Raise InputError if what says how the model is called cannot say it."""
        if self.forward is not None and not callable(self.forward):
            raise InputError(
                f"Expected `forward` to be a function (model, batch) -> output (got "
                f"{self.forward!r}). Leave it out to call the model by the names of its arguments."
            )
        names = self.arguments
        if names is None or (isinstance(names, Sequence) and not isinstance(names, str)):
            return
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise InputError(
                f"Expected `arguments` to be a list of names (got {names!r}). "
                'Pass ["x", "edge_index"], or leave it out.'
            )
        # A set, or the keys of a dict: what is stated must not depend on the order of a set.
        object.__setattr__(self, "arguments", tuple(sorted(map(str, names))))

    def _set_contrast(self) -> None:
        """Convert `rather_than` and `above` to plain numbers."""
        from eigsearch.inputs.arguments import parse_class, parse_value

        object.__setattr__(self, "rather_than", parse_class("rather_than", self.rather_than))
        object.__setattr__(self, "above", parse_value("above", self.above))

    def _check_features(self) -> None:
        """Raise InputError if other options contradict `features`."""
        from eigsearch.inputs.feature_groups import check_features
        from eigsearch.ranking.registry import RANKERS

        check_features(self.features, self.baseline)
        if self.features is None:
            return
        if self.connected:
            raise InputError(
                "Expected connected=False with `features`, which touch no edge (got True). "
                "Leave one of them out."
            )
        if not isinstance(self.make_ranker(), tuple(RANKERS.values())):
            raise InputError(
                f"Expected `ranker` to be one of {', '.join(RANKERS)} with `features` (got another "
                "one, which scores edges or nodes alone). Leave it out."
            )

    def make_ranker(self) -> Ranker | CandidateRanker:
        """Return the ranker that the options name."""
        from eigsearch.ranking.registry import make_ranker

        return make_ranker(self.ranker)

    def strategy(self) -> Search:
        """Return the search that the options name."""
        from eigsearch.search import make_search

        found = make_search(self.search, self.size)
        if not hasattr(found, "steps"):
            raise InputError(
                f"Expected `search` to be a name or a `Search` (got {self.search!r}). "
                "Pass one, such as 'refine'."
            )
        return found

    def describe(self) -> dict[str, Any]:
        """Return the options as plain values, with the versions that they ran under."""
        from torch import Tensor

        from eigsearch._utils.fingerprint import describe_value
        from eigsearch._utils.versions import versions

        values = vars(self)
        if _all_plain(values.values()):  # which describe themselves
            return {**values, "versions": versions()}
        plain = {name: describe_value(value) for name, value in values.items()}
        if isinstance(self.groups, Tensor | Mapping):
            each = [self.groups] if isinstance(self.groups, Tensor) else self.groups.values()
            plain["groups"] = f"partition of {sum(part.numel() for part in each)} edges"
        if self.reverse is not None:
            plain["reverse"] = {str(one): str(other) for one, other in self.reverse.items()}
        if isinstance(self.features, Tensor):
            plain["features"] = f"partition {list(self.features.shape)}"
        elif self.features is not None and not isinstance(self.features, str):
            plain["features"] = ", ".join(self.features)
        return {**plain, "versions": versions()}


_NAMES = tuple(option.name for option in fields(Options))
_PLAIN = {bool, int, float, str, type(None)}


class OptionsDict(TypedDict, total=False):
    """The fields of `Options` as keywords, for type checkers."""

    sparsity: float
    min_size: int
    max_size: int | None
    connected: bool
    rather_than: int | None
    above: float | None
    groups: GroupSpec
    reverse: Reverse | None
    target_link: str
    features: FeatureSpec | None
    baseline: BaselineSpec
    nodes: str
    arguments: Sequence[str] | None
    levels: Mapping[str, str] | None
    return_type: str
    task: str
    forward: Forward | None
    engine: str
    max_batch_nodes: int | None
    max_memory: int | None
    ranker: Any
    search: str | Search | None
    size: int | None


def make_options(keywords: dict[str, Any]) -> Options:
    """Return the options with these keywords.

    Raises:
        TypeError: If a keyword is not an option.
    """
    for name in keywords:
        if name not in _NAMES:
            similar = get_close_matches(name, _NAMES, n=1)
            hint = (
                f"Did you mean `{similar[0]}`?" if similar else f"Choose from {', '.join(_NAMES)}."
            )
            raise TypeError(f"Expected options of eigsearch (got the keyword `{name}`). {hint}")
    # An imported ranker is looked up anew each time.
    known = _all_plain(keywords.values()) and ":" not in str(keywords.get("ranker"))
    return _same_options(**keywords) if known else Options(**keywords)


@lru_cache(maxsize=64, typed=True)
def _same_options(**keywords: Any) -> Options:
    """Return the options with these plain values, which calls that pass the same ones share."""
    return Options(**keywords)


def _all_plain(values: Iterable[Any]) -> bool:
    """Return whether all values are numbers, texts or None."""
    return all(map(_PLAIN.__contains__, map(type, values)))


def takes_options(*without: str) -> Callable[[Function], Function]:
    """Show the options in the signature of a function that takes them as `**options`."""

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        options = [
            inspect.Parameter(
                f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=f.type
            )
            for f in fields(Options)
            if f.name not in without
        ]
        function.__signature__ = signature.replace(parameters=own + options)  # type: ignore[attr-defined]
        return function

    return decorate


def _check_positive(name: str, value: float | None, default: str) -> None:
    """Raise InputError if a limit is no number of at least 1; 4e9 is a usual way to write one."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if value is not None and not (is_number and value >= 1):
        raise InputError(
            f"Expected `{name}` to be a number of at least 1 (got {value!r}). "
            f"Leave it out for {default}."
        )
