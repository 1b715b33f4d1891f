"""What a predicted link loses with a whole path between its ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.explanation.paths import LinkPath
from eigsearch.metrics.fidelity import fidelity
from eigsearch.metrics.mask import Claim
from eigsearch.options import Options


def path_drops(
    model: Any,
    explanation: SubgraphExplanation,
    paths: Sequence[LinkPath],
    options: Options | None = None,
) -> Tensor:
    """Return φ(G) − φ(G without the path) of each path of an explained link, `[P]`.

    `explanation.paths()` ranks by the weakest edge, which asks no model; this asks it once for each
    path, and sees what edges of a path do together.

    Args:
        model: The model that predicts the link.
        explanation: The explanation of the link.
        paths: Paths of `explanation.paths()`.
        options: How the model is called and read, as for `explain`.
    """
    if not paths:
        return torch.zeros(0, dtype=torch.float64)
    view, group = explanation.flat, explanation.group.cpu()
    along = torch.stack([torch.isin(group, torch.tensor(path.groups)) for path in paths])
    mask = along
    if explanation.edges is not None:
        mask = torch.zeros(len(paths), view.num_edges, dtype=torch.bool)
        mask[:, explanation.edges.cpu()] = along
    schema, by_type = view.schema, None
    if schema is not None:
        columns = schema.by_edge_type(mask.t())
        by_type = {kind: part.t() for kind, part in columns.items()}
    claim = Claim(
        explanation.data,
        mask if by_type is None else by_type,
        target=explanation.target,
        link=explanation.link,
    )
    return fidelity(model, claim, options).fidelity_plus
