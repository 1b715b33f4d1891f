"""The verbs: explain one prediction, or those of a whole data set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, repeat
from typing import Any

from torch import Tensor
from torch_geometric.data import Data

from eigsearch.caller import Forward
from eigsearch.errors import InputError
from eigsearch.explanation import SubgraphExplanation
from eigsearch.groups import GroupSpec
from eigsearch.options import Options
from eigsearch.ranking import Ranker
from eigsearch.run import Question, Run
from eigsearch.search import Search

WINDOW = 32  # graphs that share model calls: enough to fill a batch, few enough to stay flat


def explain(
    model: Any,
    data: Data,
    *,
    target: int | None = None,
    node: int | None = None,
    sparsity: float = 0.5,
    min_size: int = 2,
    groups: GroupSpec = "auto",
    return_type: str = "auto",
    task: str = "auto",
    forward: Forward | None = None,
    engine: str = "auto",
    max_batch_nodes: int | None = None,
    ranker: Ranker | None = None,
    search: str | Search | None = "sweep",
    size: int | None = None,
) -> SubgraphExplanation:
    """Return the subgraph that made a model predict what it predicts.

    Without `node` the model predicts graphs; with it, the prediction of that node is explained.
    `target` is the class to explain, by default the predicted one. The other keywords are
    described in `eigsearch.Options`.
    """
    options = Options(
        sparsity, min_size, groups, return_type, task, forward, engine, max_batch_nodes, ranker,
        search, size,
    )  # fmt: skip
    nodes = None if node is None else [node]
    return next(_explain_all(model, [data], [target], nodes, options))


def explain_dataset(
    model: Any,
    dataset: Iterable[Data] | Data,
    *,
    target: int | Sequence[int | None] | None = None,
    node: Sequence[int] | Tensor | None = None,
    sparsity: float = 0.5,
    min_size: int = 2,
    groups: GroupSpec = "auto",
    return_type: str = "auto",
    task: str = "auto",
    forward: Forward | None = None,
    engine: str = "auto",
    max_batch_nodes: int | None = None,
    ranker: Ranker | None = None,
    search: str | Search | None = "sweep",
    size: int | None = None,
) -> Iterator[SubgraphExplanation]:
    """Yield an explanation for each graph, in order, with model calls shared across graphs.

    For a model that predicts nodes, pass one graph and the nodes to explain as `node`. `target` may
    be one class for all or one for each. The other keywords are described in `eigsearch.Options`.
    """
    options = Options(
        sparsity, min_size, groups, return_type, task, forward, engine, max_batch_nodes, ranker,
        search, size,
    )  # fmt: skip
    if node is None:
        graphs: Iterable[Data] = [dataset] if isinstance(dataset, Data) else dataset
        return _explain_all(model, graphs, _targets(target), None, options)
    if not isinstance(dataset, Data):
        raise InputError(
            f"Expected one graph together with `node` (got {type(dataset).__name__}). "
            "Call explain_dataset once for each graph."
        )
    nodes = [int(n) for n in node]
    return _explain_all(model, [dataset] * len(nodes), _targets(target), nodes, options)


def _targets(target: int | Sequence[int | None] | None) -> Iterable[int | None]:
    return repeat(target) if target is None or isinstance(target, int) else target


def _explain_all(
    model: Any,
    graphs: Iterable[Data],
    targets: Iterable[int | None],
    nodes: Sequence[int] | None,
    options: Options,
) -> Iterator[SubgraphExplanation]:
    run = Run(model, options)
    which = repeat(None) if nodes is None else nodes
    questions = map(Question, graphs, targets, which)
    while window := list(islice(questions, WINDOW)):
        yield from run.answer(window)
