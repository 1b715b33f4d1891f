"""The verbs: explain one prediction, or those of a whole data set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from itertools import islice, zip_longest
from typing import Any

from torch_geometric.data import Data

from eigsearch._utils.gc_freeze import gc_frozen
from eigsearch.errors import InputError
from eigsearch.explanation import SubgraphExplanation
from eigsearch.inference.model_call import Forward
from eigsearch.inputs.arguments import (
    Classes,
    Nodes,
    parse_node,
    parse_nodes,
    parse_target,
    parse_targets,
)
from eigsearch.inputs.edge_groups import GroupSpec
from eigsearch.options import Options
from eigsearch.pipeline import Instance, Pipeline
from eigsearch.ranking.rankers import Ranker
from eigsearch.search import Search

WINDOW = 128  # graphs that share model calls: enough to fill a batch, few enough to stay flat
_MISSING: Any = object()


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
    max_memory: int | None = None,
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
        sparsity=sparsity, min_size=min_size, groups=groups, return_type=return_type, task=task,
        forward=forward, engine=engine, max_batch_nodes=max_batch_nodes, max_memory=max_memory,
        ranker=ranker, search=search, size=size,
    )  # fmt: skip
    instance = Instance(data, parse_target(target), parse_node(node))
    return Pipeline(model, options).explain([instance])[0]


def explain_dataset(
    model: Any,
    dataset: Iterable[Data] | Data,
    *,
    target: Classes | None = None,
    node: Nodes | None = None,
    sparsity: float = 0.5,
    min_size: int = 2,
    groups: GroupSpec = "auto",
    return_type: str = "auto",
    task: str = "auto",
    forward: Forward | None = None,
    engine: str = "auto",
    max_batch_nodes: int | None = None,
    max_memory: int | None = None,
    ranker: Ranker | None = None,
    search: str | Search | None = "sweep",
    size: int | None = None,
    workers: int | None = None,
    ray: str | None = None,
) -> Iterator[SubgraphExplanation]:
    """Yield an explanation for each graph, in order, with model calls shared across graphs.

    For a model that predicts nodes, pass one graph and the nodes to explain as `node`: their
    numbers, or a mask of bools such as `data.test_mask`. `target` may be one class for all or one
    for each. `workers` spreads the graphs over so many processes, `ray` over the cluster at an
    address (`"auto"` for one that runs here). The other keywords are described in
    `eigsearch.Options`.
    """
    options = Options(
        sparsity=sparsity, min_size=min_size, groups=groups, return_type=return_type, task=task,
        forward=forward, engine=engine, max_batch_nodes=max_batch_nodes, max_memory=max_memory,
        ranker=ranker, search=search, size=size,
    )  # fmt: skip
    if workers is not None or ray is not None:
        from eigsearch.parallel import explain_many  # downwards: one process needs none of it

        return explain_many(
            model, dataset, node=node, target=target, options=options, workers=workers, ray=ray
        )
    classes = parse_targets(target)
    if node is None:
        graphs: Iterable[Data] = [dataset] if isinstance(dataset, Data) else dataset
        return _settled(answers(model, _each(graphs, classes), options))
    if not isinstance(dataset, Data):
        raise InputError(
            f"Expected one graph together with `node` (got {type(dataset).__name__}). "
            "Call explain_dataset once for each graph."
        )
    nodes = parse_nodes(node, dataset)
    asked = zip(_each([dataset] * len(nodes), classes), nodes, strict=True)
    instances = (instance._replace(node=n) for instance, n in asked)
    return _settled(answers(model, instances, options))


def answers(
    model: Any, instances: Iterable[Instance], options: Options
) -> Iterator[SubgraphExplanation]:
    """Yield an explanation for each question, in order; those of a window share model calls."""
    run, waiting = Pipeline(model, options), iter(instances)
    while window := list(islice(waiting, WINDOW)):
        yield from run.explain(window)


def _settled(explanations: Iterator[SubgraphExplanation]) -> Iterator[SubgraphExplanation]:
    with gc_frozen():
        yield from explanations


def _each(graphs: Iterable[Data], target: int | list[int | None] | None) -> Iterator[Instance]:
    """Return a question about each graph, with the one target or with its own."""
    if not isinstance(target, list):
        return (Instance(graph, target) for graph in graphs)
    if isinstance(graphs, Sized) and len(graphs) != len(target):
        raise _uneven(len(graphs), len(target))
    return _paired(graphs, target)


def _paired(graphs: Iterable[Data], targets: Iterable[int | None]) -> Iterator[Instance]:
    pairs = zip_longest(graphs, targets, fillvalue=_MISSING)
    for number, (graph, target) in enumerate(pairs):
        if graph is _MISSING or target is _MISSING:
            few, many = number, f"more than {number}"
            raise _uneven(few if graph is _MISSING else many, many if graph is _MISSING else few)
        yield Instance(graph, target)


def _uneven(graphs: int | str, targets: int | str) -> InputError:
    return InputError(
        f"Expected `target` to be one class for all or one for each of {graphs} predictions (got "
        f"{targets}). Pass equally many."
    )
