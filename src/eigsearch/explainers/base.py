"""Interface of explainers: options in the constructor, data in the call, scores out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.errors import InputError
from eigsearch.inference.configured_model import configure
from eigsearch.inference.model_call import Forward
from eigsearch.inputs.edge_groups import make_groups
from eigsearch.ranking.graph_prediction import GROUPS
from eigsearch.ranking.ranking import group_scores

SEVERAL_CLASSES = "several classes"  # among the needs of what trains on boundaries between them


class ScoreType(str, Enum):
    """What the scores of an explainer are, and so what a metric may do with them.

    `SIGNED`: positive speaks for the class, negative against it; zero says nothing.
    `MAGNITUDE`: at least zero; how much something matters, in either direction.
    `PROBABILITY`: between 0 and 1; the chance that something belongs to the explanation.
    `LOGIT`: the log-odds of such a chance; a negative one means "leave it out", not "against".
    `RANK`: the order of entry into a growing set; the numbers depend on the size of the graph.
    `P_VALUE`: −log p of a test, at least zero.
    """

    SIGNED = "signed attribution"
    MAGNITUDE = "magnitude"
    PROBABILITY = "probability"
    LOGIT = "logit"
    RANK = "rank"
    P_VALUE = "p-value"

    @property
    def allows_absolute(self) -> bool:
        """Whether |score| is an importance; of a logit it would turn "leave out" into "keep"."""
        return self is not ScoreType.LOGIT

    @property
    def is_comparable(self) -> bool:
        """Whether scores of different graphs may be pooled into one ranking."""
        return self not in (ScoreType.RANK, ScoreType.P_VALUE)


EVERY_TASK = ("graph", "node", "link")


@dataclass(frozen=True)
class Card:
    """What a user has to know about an explainer before choosing it.

    Attributes:
        name: The explainer's name, as its paper writes it.
        level: Whether it scores edges or nodes, and so induces subgraphs by edges or by nodes.
        citation: Where it was published.
        score_type: What its scores are.
        faithful_to: What the implementation follows: the paper, the authors' code, a library.
        cost: What one explanation costs, in model calls or passes.
        deviations: Where it differs from what it follows, a few words each.
        tasks: The tasks that it has: `"graph"`, `"node"`, `"link"`.
        typed: Whether it explains typed graphs.
        trains: Whether `fit` has to run before `rank`.
        needs: What it needs of a model beyond predictions, a few words each.
        seeded: Whether its answer depends on a seed.
        color: The colour of its lines, a name in `visualization.colors.HUES`.
        dash: The dash of its lines, a name in `visualization.colors.DASHES`.
    """

    name: str
    level: Literal["edge", "node"]
    citation: str
    score_type: ScoreType
    faithful_to: str
    cost: str
    deviations: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ("graph", "node")
    typed: bool = False
    trains: bool = False
    needs: tuple[str, ...] = ()
    seeded: bool = False
    color: str = "grey"
    dash: str = "solid"

    def as_row(self) -> dict[str, str]:
        """Return the card in words, one entry per column of a listing."""
        return {
            "name": self.name,
            "level": self.level,
            "scores": self.score_type.value,
            "tasks": ", ".join(self.tasks),
            "typed graphs": "yes" if self.typed else "no",
            "trains": "yes" if self.trains else "no",
            "needs": ", ".join(self.needs) or "predictions",
            "seeded": "yes" if self.seeded else "no",
            "cost": self.cost,
            "faithful to": self.faithful_to,
            "deviations": "; ".join(self.deviations) or "none known",
            "citation": self.citation,
        }


class Method(ABC):
    """An explainer used as a ranker: it scores the edges or the nodes of a graph.

    An explainer never changes the model or the data that it is given: whatever sets masks, hooks or
    gradients works on a private copy. Both directions of an undirected edge share a score.

    Attributes:
        card: What a user has to know about it.
        cheap_options: Options with which it does the least work that still is the method, for
            tests and trials.
        train_nodes: The nodes that `fit` was told to train on, None for nodes of its own choice.
    """

    card: ClassVar[Card]
    cheap_options: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    train_nodes: tuple[int, ...] | None = None

    @property
    def name(self) -> str:
        """The explainer's name."""
        return self.card.name

    @property
    def level(self) -> Literal["edge", "node"]:
        """Whether the scores are for edges or for nodes."""
        return self.card.level

    @property
    def explains(self) -> tuple[str, ...]:
        """The kinds of predictions that it explains: its tasks, and `typed` for typed graphs."""
        return (*self.card.tasks, "typed") if self.card.typed else self.card.tasks

    def fit(
        self,
        model: Any,
        dataset: Sequence[Data],
        *,
        nodes: Sequence[int] | Tensor | None = None,
        forward: Forward | None = None,
        task: str = "auto",
        return_type: str = "auto",
    ) -> None:
        """Train the explainer on a model's own predictions, if it trains at all.

        Args:
            model: The model that will be explained.
            dataset: The graphs to train on.
            nodes: The nodes to train on, for a model that predicts nodes: those that will be
                explained, or others of their kind. None draws them from all nodes with edges.
            forward: How to call the model, as for `explain`.
            task: What the model predicts, as for `explain`.
            return_type: What the model returns, as for `explain`.
        """
        if nodes is not None:
            self.train_nodes = tuple(torch.as_tensor(nodes).reshape(-1).tolist())
        self._fit(configure(model, forward, task, return_type), dataset)

    @abstractmethod
    def rank(self, model: Any, data: Data, target: int, node: int | None) -> Tensor:
        """Return a score for each directed edge (or each node); higher is more important.

        Raises:
            UnsupportedError: If the explainer cannot explain this model; the message says why.
        """

    def _fit(self, model: Any, dataset: Sequence[Data]) -> None:
        """Train; an explainer that has nothing to train inherits this."""
        return None


def share_directions(score: Tensor, data: Data) -> Tensor:
    """Return edge scores in which both directions of an undirected edge have their mean.

    Where a graph says what its groups of edges are, as that of a link does, these do.

    >>> graph = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
    >>> share_directions(torch.tensor([1.0, 3.0]), graph)
    tensor([2., 2.])
    """
    groups = make_groups(data.get(GROUPS, "auto"), data)
    return group_scores(score, groups)[groups.index].to(score.dtype)


def check_choice(option: str, value: str, choices: Sequence[str]) -> None:
    """Raise InputError if the value of an option is not among its choices."""
    if value not in choices:
        raise InputError(
            f"Expected `{option}` to be one of {', '.join(choices)} (got {value!r}). "
            f"Pass {choices[0]!r}."
        )


@contextmanager
def seeded(seed: int, device: torch.device | None = None) -> Iterator[None]:
    """Run a block from a seed, and restore the caller's random state."""
    cuda = [device] if device is not None and device.type == "cuda" else []
    with torch.random.fork_rng(devices=cuda):
        torch.manual_seed(seed)
        yield
