"""Input × gradient, guided backpropagation and DeepLIFT, through captum, on node features."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.errors import MissingExtraError, UnsupportedError
from eigsearch.explainers.base import EVERY_TASK, Card, Method, ScoreType
from eigsearch.explainers.common.differentiable import DifferentiablePrediction, gradients
from eigsearch.explainers.gradient.captum_adapter import CaptumAdapter

_INCOMPLETE = 1e-2  # of the difference that DeepLIFT has to explain


class _CaptumMethod(Method):
    """A node-level method whose attributions captum computes."""

    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return the attributions of each node's features, added up."""
        with gradients(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # captum announces its hooks, which are on a copy
            adapter = CaptumAdapter(DifferentiablePrediction(model, data, target, node))
            x = torch.as_tensor(data.x).detach().clone()[None].requires_grad_()
            return self._attribute(adapter, x)[0].flatten(1).sum(dim=1).detach()

    @abstractmethod
    def _attribute(self, adapter: CaptumAdapter, x: Tensor) -> Tensor:
        """Return the attribution of each feature, in the shape of `x`."""


class InputXGradient(_CaptumMethod):
    """Scores a node by Σ_f x_vf · ∂ score / ∂ x_vf."""

    card: ClassVar[Card] = Card(
        name="Input × Gradient",
        level="node",
        citation="Shrikumar et al., Not Just a Black Box, 2016",
        score_type=ScoreType.SIGNED,
        faithful_to="captum's implementation",
        cost="one forward and one backward pass",
        tasks=EVERY_TASK,
        needs=("gradients", "node features", "captum"),
        color="sky",
        dash="dashdot",
    )

    def _attribute(self, adapter: CaptumAdapter, x: Tensor) -> Tensor:
        return _captum().InputXGradient(adapter).attribute(x)


class GuidedBackprop(_CaptumMethod):
    """Scores a node by the positive part of the guided gradient, summed over its features.

    On its way back through a ReLU the gradient loses all that is negative.
    """

    card: ClassVar[Card] = Card(
        name="Guided Backprop",
        level="node",
        citation="Springenberg et al., Striving for Simplicity, ICLR workshop 2015",
        score_type=ScoreType.MAGNITUDE,
        faithful_to="captum's implementation",
        cost="one forward and one backward pass",
        tasks=EVERY_TASK,
        deviations=("clamps at ReLU only, where Baldassarre & Azizpour clamp at every operation",),
        needs=("gradients", "node features", "captum"),
        color="green",
        dash="dashdot",
    )

    def _attribute(self, adapter: CaptumAdapter, x: Tensor) -> Tensor:
        return _captum().GuidedBackprop(adapter).attribute(x).clamp_min(0)


class DeepLIFT(_CaptumMethod):
    """Scores a node by what its features contribute to the score, compared to features of zero.

    The rescale rule passes differences instead of gradients through each ReLU, so contributions
    add up to score(x) − score(0). It knows element-wise activations; where a model has other
    non-linear parts, such as attention, they do not add up, and it is refused.
    """

    card: ClassVar[Card] = Card(
        name="DeepLIFT",
        level="node",
        citation="Shrikumar et al., Learning Important Features, ICML 2017",
        score_type=ScoreType.SIGNED,
        faithful_to="captum's implementation (rescale rule)",
        cost="one forward and one backward pass",
        needs=("gradients", "node features", "element-wise activations", "captum"),
        color="olive",
        dash="dashed",
    )

    def _attribute(self, adapter: CaptumAdapter, x: Tensor) -> Tensor:
        zero = torch.zeros_like(x)
        found = _captum().DeepLift(adapter).attribute(x, baselines=zero)
        with torch.no_grad():
            difference = float(adapter(x) - adapter(zero))
        missing = abs(float(found.sum()) - difference)
        if missing > _INCOMPLETE * (1 + abs(difference)):
            raise UnsupportedError(
                "Expected a model whose only non-linear parts are element-wise activations (got "
                f"contributions that miss the difference of {difference:.3g} by {missing:.3g}). "
                "Choose another method."
            )
        return found


def _captum() -> Any:
    try:
        import captum.attr
    except ImportError as error:
        raise MissingExtraError("captum", "bench", "attribute features") from error
    return captum.attr
