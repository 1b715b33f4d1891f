"""`flip` and `flip_dataset`: the smallest changes of edges that change predictions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from torch import Tensor
from torch_geometric.data import Data, HeteroData

from eigsearch._utils.gc_freeze import gc_frozen
from eigsearch._utils.progress_bar import with_progress
from eigsearch.counterfactual.explanation import FlipExplanation
from eigsearch.counterfactual.options import OTHERS, FlipOptions, shared_options
from eigsearch.counterfactual.pipeline import FlipPipeline
from eigsearch.errors import InputError
from eigsearch.explanation import FailedExplanation
from eigsearch.inputs.arguments import Classes, Links, Nodes, parse_link, parse_node, parse_target
from eigsearch.inputs.instance import Instance
from eigsearch.inputs.typed_graph import LinkName, NodeName
from eigsearch.options import takes_options
from eigsearch.outcomes import check_on_error, explain_each
from eigsearch.tasks.dataset import count_instances, dataset_instances, listed

Pairs = bool | Tensor | Sequence[Sequence[int]]


@takes_options(*OTHERS)
def flip(
    model: Any,
    data: Data | HeteroData,
    *,
    to: int | float | None = None,
    target: int | None = None,
    node: NodeName | None = None,
    link: LinkName | None = None,
    add: Pairs = False,
    answers: int | None = None,
    max_size: int = 20,
    search: str = "greedy",
    atoms: Sequence[str] | None = None,
    bonds: Sequence[str] | None = None,
    **options: Any,
) -> FlipExplanation | list[FlipExplanation]:
    """Return the smallest set of edges whose removal changes a prediction.

    Args:
        model: A trained model, called as PyG models are.
        data: The graph, typed or not. All of its nodes stay.
        to: The class that is to be predicted; any other one by default. For a regression, the
            value to cross.
        target: The label, or the output of a regression, where a model has several.
        node: The node whose prediction is to change, in a typed graph as `("paper", 7)`.
        link: The two nodes whose link is to be predicted, or no more, `(3, 7)`, in a typed graph
            as `(("user", 3), ("movie", 7))`. Without node and link the model predicts graphs.
        add: Whether edges may be added as well: True for pairs of nodes that share a neighbour and
            no edge, or the pairs that may be joined, `[2, A]`. New edges have the commonest
            attributes. A typed graph gets none.
        answers: How many different sets to return, smallest first, as a list; one by default,
            which is not in a list. Fewer come back if there are no more.
        max_size: The most edges to change.
        search: `"greedy"` grows the best few sets edge by edge; `"exhaustive"` tries every set,
            so its first answer is minimal.
        atoms: For molecules: the element of each `data.node_label`, such as `dataset.node_names`.
            Then only bonds are added that RDKit can sanitise. Graphs with `smiles` need none.
        bonds: For molecules: what the columns of `edge_attr` stand for, of `"single"`,
            `"double"`, `"triple"` and `"aromatic"`; without it all bonds count as single.
        **options: `task`, `return_type`, `forward`, `arguments`, `groups`, `reverse`,
            `levels`, `target_link`, `engine`, `max_batch_nodes` and `max_memory`, as in `explain`.

    Returns:
        The explanation, whose `edge_mask` marks what is removed and whose `added` lists new edges;
        `flipped` is False if there is no answer within `max_size`.
    """
    wanted = FlipOptions(
        to=to, add=add, answers=_count(answers), max_size=max_size, search=search,
        atoms=atoms, bonds=bonds,
    )  # fmt: skip
    instance = Instance(data, parse_target(target), parse_node(node), parse_link(link))
    (found,) = FlipPipeline(model, shared_options(options), wanted).explain([instance])
    return found if answers is None else found.answers()


@takes_options(*OTHERS)
def flip_dataset(
    model: Any,
    dataset: Iterable[Any] | Data | HeteroData,
    *,
    to: int | float | None = None,
    target: Classes | None = None,
    node: Nodes | None = None,
    link: Links | None = None,
    add: Pairs = False,
    answers: int | None = None,
    max_size: int = 20,
    search: str = "greedy",
    atoms: Sequence[str] | None = None,
    bonds: Sequence[str] | None = None,
    workers: int | None = None,
    ray: str | None = None,
    on_error: str = "raise",
    progress: bool | None = None,
    **options: Any,
) -> Iterator[Any]:
    """Yield what `flip` returns for each graph, in order, with model calls shared across graphs.

    Args:
        model: A trained model, called as PyG models are.
        dataset: The graphs; one graph for a model that predicts nodes or links.
        to: As in `flip`, the same for all.
        target: As in `flip`, one for all or one for each.
        node: The nodes whose predictions are to change, as in `explain_dataset`.
        link: The links whose predictions are to change, as in `explain_dataset`.
        add: As in `flip`; pairs of nodes only where all predictions are about one graph.
        answers: As in `flip`; a number makes each answer a list.
        max_size: As in `flip`.
        search: As in `flip`.
        atoms: As in `flip`.
        bonds: As in `flip`.
        workers: Spread the graphs over so many processes.
        ray: Spread them over the Ray cluster at this address (`"auto"` for one that runs here).
        on_error: `"raise"` raises the first failure, after all answers before it; `"skip"` yields
            an `eigsearch.FailedExplanation` with the reason in its place.
        progress: Whether to show a progress bar; by default in terminals and notebooks.
        **options: As in `flip`.
    """
    check_on_error(on_error)
    wanted = FlipOptions(
        to=to, add=add, answers=_count(answers), max_size=max_size, search=search,
        atoms=atoms, bonds=bonds,
    )  # fmt: skip
    check_pairs_fit(wanted, is_one_graph=isinstance(dataset, Data))
    chosen = shared_options(options)
    node, link = listed(node), listed(link)  # iterated over twice
    total = count_instances(dataset, node, link)
    if workers is not None or ray is not None:
        from eigsearch.parallel import explain_many  # not needed in one process

        found = explain_many(
            model, dataset, node=node, link=link, target=target, options=chosen, workers=workers,
            ray=ray, on_error=on_error, flip=wanted,
        )  # fmt: skip
        return _as_asked(with_progress(found, total, progress), answers)
    instances = dataset_instances(dataset, target, node, link)
    each = explain_each(FlipPipeline(model, chosen, wanted), instances, on_error)
    return _frozen(_as_asked(with_progress(each, total, progress), answers))


def check_pairs_fit(flip: FlipOptions, is_one_graph: bool) -> None:
    """Raise InputError if pairs of nodes are given for several graphs."""
    if flip.has_own_pairs and not is_one_graph:
        raise InputError(
            "Expected `add` to be True or False for several graphs (got pairs of nodes). Call "
            "flip() for each graph with pairs of its own."
        )


def _count(answers: int | None) -> int:
    return 1 if answers is None else answers


def _as_asked(
    found: Iterable[Any], answers: int | None
) -> Iterator[FlipExplanation | list[FlipExplanation] | FailedExplanation]:
    """Yield answers by themselves, or in lists where a number of them is asked for."""
    for each in found:
        yield each if answers is None or isinstance(each, FailedExplanation) else each.answers()


def _frozen(explanations: Iterator[Any]) -> Iterator[Any]:
    with gc_frozen():
        yield from explanations
