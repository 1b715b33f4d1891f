"""Counterfactuals as an algorithm of `torch_geometric.explain.Explainer`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from eigsearch.counterfactual.api import Pairs
from eigsearch.counterfactual.options import OTHERS, FlipOptions, shared_options
from eigsearch.counterfactual.pipeline import FlipPipeline
from eigsearch.integrations.pyg.algorithm import EiGSearch, refuse
from eigsearch.options import Options, takes_options
from eigsearch.pipeline import Explains


class CounterfactualSearch(EiGSearch):
    """Counterfactuals for PyG's `Explainer`; the options are those of `flip`.

    `edge_mask` marks the edges whose removal changes the prediction, `edge_score` how far the
    removal of each alone goes towards it. `flipped`, `value_after` and `prediction_after` say what
    comes of it, and `details` holds the `FlipExplanation` of each prediction, with the edges that
    are added and with other answers.
    """

    @takes_options("task", "return_type", *OTHERS)
    def __init__(
        self,
        *,
        to: int | float | None = None,
        add: Pairs = False,
        answers: int = 1,
        max_size: int = 20,
        search: str = "greedy",
        atoms: Sequence[str] | None = None,
        bonds: Sequence[str] | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        self.options = shared_options(options)
        self.flip = FlipOptions(
            to=to, add=add, answers=answers, max_size=max_size, search=search,
            atoms=atoms, bonds=bonds,
        )  # fmt: skip

    def supports(self) -> bool:
        """Return whether the configuration is supported: edges alone are changed."""
        config = self.explainer_config
        if config.node_mask_type is not None or config.edge_mask_type is None:
            return refuse(
                self,
                "a counterfactual changes edges and no features; pass edge_mask_type='object' "
                "and leave 'node_mask_type' out",
            )
        return True

    def _pipeline(self, model: torch.nn.Module, options: Options) -> Explains:
        return FlipPipeline(model, options, self.flip)
