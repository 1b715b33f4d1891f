"""Options: how an explanation is to be obtained, the same names everywhere."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor

from eigsearch._utils.fingerprint import describe_value
from eigsearch.engines import ENGINES
from eigsearch.errors import InputError
from eigsearch.inference.model_call import Forward
from eigsearch.inference.target import check_names
from eigsearch.inputs.edge_groups import GroupSpec
from eigsearch.ranking.rankers import Ranker
from eigsearch.search import Search, check_min_size, check_sparsity, make_search


@dataclass(frozen=True, eq=False, kw_only=True)
class Options:
    """How to explain. Every field is a keyword of `explain` and `explain_dataset`.

    Attributes:
        sparsity: The share of groups that an explanation leaves out at least; 0.0 sets no limit.
        min_size: The smallest size to try, or all groups but one where there are fewer; it goes
            before `sparsity`.
        groups: What is removed together: `"auto"`, `"undirected"`, `"directed"` or a partition.
        return_type: What the model returns: `"raw"`, `"log_probs"`, `"probs"`, or `"auto"`.
        task: `"classification"`, `"regression"`, PyG's name of a mode, or `"auto"`.
        forward: A callable `(model, batch) -> output` for models with an unusual signature.
        engine: What evaluates candidates: `"batched"` serves any model, `"incremental"` recomputes
            only what a candidate changes where it knows the model, `"auto"` takes the faster one.
        max_batch_nodes: How many nodes one model call may hold; None takes the measured default.
        max_memory: How many bytes computing may take, besides the model and the data; candidates
            are evaluated in smaller batches where needed. None sets no limit.
        ranker: What scores edges or nodes; None takes the linear gradients of EiG-Search.
        search: How a ranking becomes a subgraph: a name or a `Search`; `"fixed"`, or None, cuts at
            `size`, else at `sparsity`.
        size: Cut the ranking at this many groups, or at all where there are fewer, instead of
            searching; needs `search="fixed"`.
    """

    sparsity: float = 0.5
    min_size: int = 2
    groups: GroupSpec = "auto"
    return_type: str = "auto"
    task: str = "auto"
    forward: Forward | None = None
    engine: str = "auto"
    max_batch_nodes: int | None = None
    max_memory: int | None = None
    ranker: Ranker | None = None
    search: str | Search | None = "sweep"
    size: int | None = None

    def __post_init__(self) -> None:
        check_sparsity(self.sparsity)
        check_min_size(self.min_size)
        check_names(self.task, self.return_type)
        if self.engine not in ENGINES:
            raise InputError(
                f"Expected `engine` to be one of {', '.join(ENGINES)} (got {self.engine!r}). "
                "Leave it to 'auto'."
            )
        if self.max_batch_nodes is not None and not self.max_batch_nodes >= 1:
            raise InputError(
                f"Expected `max_batch_nodes` to be at least 1 (got {self.max_batch_nodes!r}). "
                "Leave it out for the measured default."
            )
        if self.max_memory is not None and not self.max_memory >= 1:
            raise InputError(
                f"Expected `max_memory` to be a number of bytes (got {self.max_memory!r}). "
                "Pass 2**30 for a gibibyte, or leave it out for no limit."
            )
        make_search(self.search, self.size)

    def strategy(self) -> Search:
        """Return the search that the options name."""
        return make_search(self.search, self.size)

    def describe(self) -> dict[str, Any]:
        """Return the options as plain values, with the versions that they ran under."""
        plain = {f.name: describe_value(getattr(self, f.name)) for f in fields(self)}
        if isinstance(self.groups, Tensor):
            plain["groups"] = f"partition of {self.groups.numel()} edges"
        return {**plain, "versions": versions()}


def versions() -> dict[str, str]:
    """Return the versions of the libraries that an explanation depends on."""
    import torch_geometric

    from eigsearch import __version__

    return {
        "eigsearch": __version__,
        "torch": torch.__version__,
        "torch_geometric": torch_geometric.__version__,
    }
