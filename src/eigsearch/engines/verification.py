"""Compares outputs of the incremental engine with plain calls of the model."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence

import torch
from torch import Tensor

from eigsearch._utils.tolerances import ENGINES, outputs_close
from eigsearch.candidates import ExplicitMasks, FullGraph
from eigsearch.engines.batched.engine import BatchedEngine
from eigsearch.engines.incremental import IncrementalEngine, NotServed
from eigsearch.engines.model_memory import Sizes
from eigsearch.engines.request import Request

_FINE = 1e-5  # largest machine epsilon at which engines can be compared; excludes half precision
_COMPARED = 64  # candidates of a request that are computed again in another batch

# A route names requests that take the same path through the incremental engine: attributes of the
# graph, type of candidate set, kind of subgraph.
Route = tuple[tuple[str, ...], str, str]


class Verifier:
    """Verifies the first and the largest outputs of each incremental route.

    Args:
        incremental: The engine that is verified.
        alone: The batched engine with one candidate per call.
        routes: The sizes that are verified, by route; the verifier adds to them.
    """

    def __init__(
        self, incremental: IncrementalEngine, alone: BatchedEngine, routes: dict[Hashable, Sizes]
    ) -> None:
        self._incremental = incremental
        self._alone = alone
        self._routes = routes

    def verify(self, requests: Sequence[Request], outputs: Sequence[Tensor]) -> None:
        """Raise NotServed if outputs are not the model's."""
        for request, rows in _largest_of_routes(requests, outputs):
            self._verify_once(request, rows)

    def _verify_once(self, request: Request, found: Tensor) -> None:
        """Verify a request unless its route was verified at about its size or larger."""
        route, groups = _route(request), request.instance.groups.count
        known = self._routes.get(route, Sizes(0, 0))
        if not known.cover(groups, groups):
            self._compare(request, found)
            self._routes[route] = Sizes(0, groups)

    def _compare(self, request: Request, found: Tensor) -> None:
        """Raise NotServed if outputs change with the batch, or differ from plain calls.

        Computing halves of the request reveals operations that mix candidates, in any row. Calls of
        the batched engine for three candidates reveal wrong values.
        """
        last = len(request) - 1
        if last > 0:
            halves = self._incremental.outputs_of_halves(request, _COMPARED)
            if not outputs_close(halves, found[: len(halves)], ENGINES):
                raise NotServed("The model's outputs depend on what else is in a batch.")
        entries = sorted({0, (last + 1) // 2, last})
        masks = torch.cat([request.candidate_set.rows(i, i + 1) for i in entries])
        kind = request.candidate_set.subgraph_kind
        (expected,) = self._alone.outputs([Request(request.instance, ExplicitMasks(masks, kind))])
        check_agreement(found[entries], expected)


def check_agreement(found: Tensor, expected: Tensor) -> None:
    """Raise NotServed if engines cannot be compared, or with a warning if they differ."""
    if not expected.is_floating_point() or torch.finfo(expected.dtype).eps > _FINE:
        raise NotServed(
            "The model's output is not float32 or float64, so engines cannot be compared."
        )
    if not outputs_close(expected, found, ENGINES):
        warnings.warn(
            "Expected both engines to agree on this model (got a difference of "
            f"{float((found - expected).abs().max()):.3g}). The batched engine takes "
            "over; please report the model.",
            stacklevel=2,
        )
        raise NotServed("The incremental engine computes other outputs than the model.")


def _largest_of_routes(
    requests: Sequence[Request], outputs: Sequence[Tensor]
) -> list[tuple[Request, Tensor]]:
    """Return the largest request of each route, with its outputs.

    Requests for whole graphs are left out: they are compared with plain calls anyway.
    """
    largest_of: dict[Route, tuple[Request, Tensor]] = {}
    for request, rows in zip(requests, outputs, strict=True):
        if not len(request) or isinstance(request.candidate_set, FullGraph):
            continue
        route = _route(request)
        known = largest_of.get(route)
        if known is None or known[0].instance.groups.count < request.instance.groups.count:
            largest_of[route] = request, rows
    return list(largest_of.values())


def _route(request: Request) -> Route:
    candidates = request.candidate_set
    kind = candidates.subgraph_kind.value
    return request.instance.signature, type(candidates).__name__, kind
