"""The protocol of the arena: options in the constructor, data in the call, scores out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.inference.configured_model import configure
from eigsearch.inference.model_call import Forward
from eigsearch.inputs.edge_groups import make_groups
from eigsearch.ranking.ranking import group_scores


@dataclass(frozen=True)
class Card:
    """What a user has to know about a method before choosing it.

    Attributes:
        name: The method's name, as its paper writes it.
        level: Whether it scores edges or nodes, and so induces subgraphs by edges or by nodes.
        citation: Where it was published.
        tasks: The tasks that it has: `"graph"`, `"node"`.
        trains: Whether `fit` has to run before `rank`.
        needs: What it needs of a model beyond predictions, in a few words each.
        seeded: Whether its answer depends on a seed.
    """

    name: str
    level: Literal["edge", "node"]
    citation: str
    tasks: tuple[str, ...] = ("graph", "node")
    trains: bool = False
    needs: tuple[str, ...] = ()
    seeded: bool = False


class Method(ABC):
    """An explainer of the arena, used as a ranker: it scores the edges or the nodes of a graph.

    A method never changes the model or the data that it is given: whatever sets masks, hooks or
    gradients works on a copy of its own. The two directions of an undirected edge share a score.
    """

    card: ClassVar[Card]

    @property
    def name(self) -> str:
        """The method's name."""
        return self.card.name

    @property
    def level(self) -> Literal["edge", "node"]:
        """Whether the scores are for edges or for nodes."""
        return self.card.level

    def fit(
        self,
        model: Any,
        dataset: Sequence[Data],
        *,
        forward: Forward | None = None,
        task: str = "auto",
        return_type: str = "auto",
    ) -> None:
        """Train the explainer on a model's own predictions, where it has anything to train.

        The keywords say how to call and read the model: pass what `explain` will be given.
        """
        self._fit(configure(model, forward, task, return_type), dataset)

    @abstractmethod
    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return a score for each directed edge (or each node); higher is more important.

        Raises `UnsupportedError` with the reason where the method cannot explain this model.
        """

    def _fit(self, model: Any, dataset: Sequence[Data]) -> None:
        """Train; a method that has nothing to train leaves this as it is."""
        return None


def share_directions(score: Tensor, data: Data) -> Tensor:
    """Return edge scores in which both directions of an undirected edge have their mean.

    >>> graph = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
    >>> share_directions(torch.tensor([1.0, 3.0]), graph)
    tensor([2., 2.])
    """
    groups = make_groups("auto", data)
    return group_scores(score, groups)[groups.index].to(score.dtype)


@contextmanager
def seeded(seed: int, device: torch.device | None = None) -> Iterator[None]:
    """Run a block from a seed, and leave the caller's random state as it was."""
    cuda = [device] if device is not None and device.type == "cuda" else []
    with torch.random.fork_rng(devices=cuda):
        torch.manual_seed(seed)
        yield
