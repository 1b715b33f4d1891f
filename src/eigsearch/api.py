"""The public functions: explain one prediction, or those of a whole data set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from torch_geometric.data import Data, HeteroData

from eigsearch._utils.gc_freeze import gc_frozen
from eigsearch._utils.progress_bar import with_progress
from eigsearch.explanation import SubgraphExplanation
from eigsearch.inputs.arguments import Classes, Links, Nodes, parse_link, parse_node, parse_target
from eigsearch.inputs.instance import Instance
from eigsearch.inputs.typed_graph import LinkName, NodeName
from eigsearch.options import make_options, takes_options
from eigsearch.outcomes import check_on_error, explain_each
from eigsearch.pipeline import Pipeline
from eigsearch.tasks.dataset import count_instances, dataset_instances, listed

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from eigsearch.options import OptionsDict


@takes_options()
def explain(
    model: Any,
    data: Data | HeteroData,
    *,
    target: int | None = None,
    node: NodeName | None = None,
    link: LinkName | None = None,
    **options: Unpack[OptionsDict],
) -> SubgraphExplanation:
    """Return the subgraph that made a model predict what it predicts.

    Args:
        model: A trained model, called as PyG models are.
        data: The graph, typed or not.
        target: The class to explain; the predicted one by default.
        node: The node whose prediction is explained, in a typed graph as `("paper", 7)`.
        link: The two nodes whose link is explained, `(3, 7)`, in a typed graph as
            `(("user", 3), ("movie", 7))`; the model gets them as `edge_label_index`. Without node
            and link the model predicts graphs.
        **options: The fields of `eigsearch.Options`.
    """
    instance = Instance(data, parse_target(target), parse_node(node), parse_link(link))
    return Pipeline(model, make_options({**options})).explain([instance])[0]


@takes_options()
def explain_dataset(
    model: Any,
    dataset: Iterable[Any] | Data | HeteroData,
    *,
    target: Classes | None = None,
    node: Nodes | None = None,
    link: Links | None = None,
    workers: int | None = None,
    ray: str | None = None,
    on_error: str = "raise",
    progress: bool | None = None,
    **options: Unpack[OptionsDict],
) -> Iterator[Any]:
    """Yield an explanation for each graph, in order, with model calls shared across graphs.

    Args:
        model: A trained model, called as PyG models are.
        dataset: The graphs; one graph for a model that predicts nodes or links.
        target: The class to explain, one for all or one for each; the predicted one by default.
        node: The nodes to explain: their numbers, or a mask such as `data.test_mask`; of a typed
            graph with their type, `("paper", [3, 7])`.
        link: The links to explain: `edge_label_index`, `[2, L]`, or a list of pairs; of a typed
            graph with the types of their ends, `(("user", "movie"), edge_label_index)`.
        workers: Spread the graphs over so many processes.
        ray: Spread them over the Ray cluster at this address (`"auto"` for one that runs here).
        on_error: `"raise"` raises the first failure, after all explanations before it; `"skip"`
            yields an `eigsearch.FailedExplanation` with the reason in its place.
        progress: Whether to show a progress bar; by default in terminals and notebooks.
        **options: The fields of `eigsearch.Options`.
    """
    check_on_error(on_error)
    chosen = make_options({**options})
    node, link = listed(node), listed(link)  # iterated over twice
    total = count_instances(dataset, node, link)
    if workers is not None or ray is not None:
        from eigsearch.parallel import explain_many  # not needed in one process

        found = explain_many(
            model, dataset, node=node, link=link, target=target, options=chosen, workers=workers,
            ray=ray, on_error=on_error,
        )  # fmt: skip
        return with_progress(found, total, progress)
    instances = dataset_instances(dataset, target, node, link)
    found = explain_each(Pipeline(model, chosen), instances, on_error)
    return _frozen(with_progress(found, total, progress))


def _frozen(explanations: Iterator[Any]) -> Iterator[Any]:
    with gc_frozen():
        yield from explanations
