"""`flip`: the smallest change of edges that changes a prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.candidates import ExplicitMasks, FullGraph, SubgraphKind
from eigsearch.counterfactual.additions import check_pairs, pairs_within_two_hops, with_additions
from eigsearch.counterfactual.explanation import FlipExplanation
from eigsearch.counterfactual.margin import Margin, make_margin
from eigsearch.counterfactual.search import Flip, exhaustive_flips, greedy_flips
from eigsearch.engines import Request
from eigsearch.errors import InputError
from eigsearch.inference.eval_mode import eval_mode
from eigsearch.inference.output_type import resolve_target
from eigsearch.inference.prediction import PredictedInstance
from eigsearch.inputs.arguments import parse_node, parse_target
from eigsearch.inputs.edge_groups import make_groups
from eigsearch.inputs.instance import Instance, PreparedInstance
from eigsearch.options import Options, make_options, takes_options
from eigsearch.pipeline import Pipeline
from eigsearch.search import Curve
from eigsearch.search.sizes import check_size

SEARCHES = {"greedy": greedy_flips, "exhaustive": exhaustive_flips}
_NO_OPTIONS = (
    *("sparsity", "min_size", "max_size", "connected", "rather_than", "above"),
    *("ranker", "search", "size", "features", "baseline"),
)


@takes_options(*_NO_OPTIONS)
def flip(
    model: Any,
    data: Data,
    *,
    to: int | float | None = None,
    target: int | None = None,
    node: int | None = None,
    add: bool | Tensor | Sequence[Sequence[int]] = False,
    answers: int | None = None,
    max_size: int = 10,
    search: str = "greedy",
    **options: Any,
) -> FlipExplanation | list[FlipExplanation]:
    """Return the smallest set of edges whose removal changes a prediction.

    Args:
        model: A trained model, called as PyG models are.
        data: The graph. All of its nodes stay.
        to: The class that is to be predicted; any other one by default. For a regression, the
            value to cross.
        target: The label, or the output of a regression, where a model has several.
        node: The node whose prediction is to change; without it the model predicts graphs.
        add: Whether edges may be added as well: True for pairs of nodes that share a neighbour and
            no edge, or the pairs that may be joined, `[2, A]`. New edges have the commonest
            attributes.
        answers: How many different sets to return, smallest first, as a list; one by default,
            which is not in a list. Fewer come back if there are no more.
        max_size: The most edges to change.
        search: `"greedy"` grows the best few sets edge by edge; `"exhaustive"` tries every set,
            so its first answer is minimal.
        **options: `task`, `return_type`, `forward`, `groups`, `engine`, `max_batch_nodes` and
            `max_memory`, as in `explain`.

    Returns:
        The explanation, whose `edge_mask` marks what is removed and whose `added` lists new edges;
        `flipped` is False if there is no answer within `max_size`.
    """
    _check(max_size, answers, search, options)
    chosen = make_options({**options})
    instance = Instance(data, parse_target(target), parse_node(node))
    with eval_mode(model):
        question = _pose(model, chosen, instance, to, add)
        flips = SEARCHES[search](question.evaluate, question.width, max_size, answers or 1)
        found = [question.explanation(flip, search) for flip in flips]
    if answers is None:
        return found[0] if found else question.without_answer(max_size, search)
    return found


@dataclass(frozen=True, eq=False)
class _Question:
    """A prediction to change, and the toggles that might.

    Attributes:
        pipeline: Evaluates candidates.
        original: The instance as it is, with its prediction.
        instance: The instance with all additions as further groups.
        groups: The group of `instance` that each toggle removes or adds.
        own: The group of `original` that each toggle removes, −1 for an addition.
        pairs: The pair of nodes that each toggle joins, −1 for a removal, `[T, 2]`.
        margin: How far an output is from another prediction.
    """

    pipeline: Pipeline
    original: PredictedInstance
    instance: PreparedInstance
    groups: np.ndarray
    own: np.ndarray
    pairs: np.ndarray
    margin: Margin

    @property
    def width(self) -> int:
        return len(self.groups)

    def outputs(self, toggled: np.ndarray) -> Tensor:
        """Return the model's output for each row of toggles."""
        base = torch.ones(self.instance.groups.count, dtype=torch.bool)
        base[torch.from_numpy(self.groups[self.own < 0])] = False
        masks = base.repeat(len(toggled), 1)
        masks[:, torch.from_numpy(self.groups)] ^= torch.from_numpy(toggled)
        candidates = ExplicitMasks(masks, SubgraphKind.ALL_NODES)
        return self.pipeline.evaluator.outputs([Request(self.instance, candidates)])[0]

    def evaluate(self, toggled: np.ndarray) -> np.ndarray:
        """Return the margin of each row of toggles."""
        return self.margin(self.outputs(toggled)).cpu().numpy()

    def explanation(self, flip: Flip, search: str) -> FlipExplanation:
        """Return an answer as an explanation."""
        row = np.zeros((1, self.width), bool)
        row[0, list(flip.toggles)] = True
        output = self.outputs(row)
        target = self.original.target
        _, prediction = resolve_target(self.pipeline.output_type, output[0], target.index)
        added = self.pairs[row[0] & (self.own < 0)].T
        return self._make(
            search,
            removed=self.own[row[0] & (self.own >= 0)],
            phi_after=target.phi(output),
            added=torch.from_numpy(added.reshape(2, -1)).to(self.original.source.edge_index.device),
            prediction_after=prediction,
            flipped=True,
        )

    def without_answer(self, max_size: int, search: str) -> FlipExplanation:
        """Return the explanation that says that there is no answer."""
        kinds = "removed or added" if (self.own < 0).any() else "removed"
        note = f"No set of at most {max_size} edges was found whose change flips the prediction"
        return self._make(
            search,
            removed=np.zeros(0, np.int64),
            phi_after=self.original.phi_full.reshape(1),
            note=f"{note} ({self.width} could be {kinds}).",
        )

    def _make(
        self, search: str, removed: np.ndarray, phi_after: Tensor, **fields: Any
    ) -> FlipExplanation:
        original, target = self.original, self.original.target
        keep = torch.zeros(original.groups.count, dtype=torch.bool)
        keep[torch.from_numpy(removed)] = True
        score = self._scores()
        phi = phi_after.cpu().double()
        size = torch.tensor([int(keep.sum())])
        found = Curve.of(target, original.phi_full, size, self._phi_alone(removed), phi)
        config = {
            **self.pipeline.options.describe(),
            "task": target.task,
            "return_type": target.return_type,
            "flip": search,
            "additions": int((self.own < 0).sum()),
        }
        return FlipExplanation(
            data=original.source,
            target=target.index,
            prediction=original.prediction,
            value=float(target.value(original.phi_full)),
            keep=keep,
            score=score,
            order=score.argsort(descending=True, stable=True),
            group=original.groups.index,
            curve=found,
            found=found,
            node=original.source_node,
            edges=original.edges,
            engine=self.pipeline.evaluator.engine_name(original),
            config=config,
            value_after=float(target.value(phi)[0]),
            **fields,
        )

    def _phi_alone(self, removed: np.ndarray) -> Tensor:
        """Return φ of the graph with no other edges than these, all nodes included."""
        others = (self.own >= 0) & ~np.isin(self.own, removed)
        return self.original.target.phi(self.outputs(others[None])).cpu()

    def _scores(self) -> Tensor:
        """Return by how much the removal of each group lowers the margin."""
        score = torch.zeros(self.original.groups.count, dtype=torch.float64)
        if self.width:
            full = self.evaluate(np.zeros((1, self.width), bool))
            removals = np.flatnonzero(self.own >= 0)
            without = self.evaluate(np.eye(self.width, dtype=bool)[removals])
            score[torch.from_numpy(self.own[removals])] = torch.from_numpy(full - without)
        return score


def _pose(
    model: Any, options: Options, instance: Instance, to: int | float | None, add: Any
) -> _Question:
    """Return the question about a prediction, with what may be added."""
    pipeline = Pipeline(model, options)
    (original,) = pipeline.predict([instance])
    _check_target(original, instance)
    (output,) = pipeline.evaluator.outputs([Request(original, FullGraph(original.groups.count))])
    margin = make_margin(original.target, output, to)
    own = np.arange(original.groups.count)
    nothing = np.full((len(own), 2), -1)
    if add is False:
        return _Question(pipeline, original, original, own, own, nothing, margin)
    return _with_additions(pipeline, original, instance, add, margin)


def _with_additions(
    pipeline: Pipeline, original: PredictedInstance, instance: Instance, add: Any, margin: Margin
) -> _Question:
    data = instance.data
    pairs = pairs_within_two_hops(data) if add is True else check_pairs(add, data)
    groups = make_groups(pipeline.options.groups, data).index
    both = _is_two_way(groups)
    grown, partition = with_additions(data, groups, pairs, both)
    wide = Pipeline(pipeline.model, replace(pipeline.options, groups=partition.cpu()))
    (prepared,) = wide.predict([instance._replace(data=grown)])
    local = prepared.groups.index.cpu().numpy()
    source = np.arange(len(local)) if prepared.edges is None else prepared.edges.cpu().numpy()
    # the first edge of each group says what the group is
    group, first = np.unique(local[local >= 0], return_index=True)
    edge = source[local >= 0][first]
    is_new = edge >= int(data.num_edges)
    own = np.where(is_new, -1, _own_groups(original)[np.minimum(edge, int(data.num_edges) - 1)])
    usable = is_new | (own >= 0)
    ends = grown.edge_index.cpu().numpy()[:, edge].T
    joined = np.where(is_new[:, None], ends, -1)
    return _Question(wide, original, prepared, group[usable], own[usable], joined[usable], margin)


def _own_groups(original: PredictedInstance) -> np.ndarray:
    """Return the group of each edge of the source, −1 where it has none or is out of reach."""
    own = np.full(max(int(original.source.num_edges), 1), -1)
    edges = slice(None) if original.edges is None else original.edges.cpu().numpy()
    own[: int(original.source.num_edges)][edges] = original.groups.index.cpu().numpy()
    return own


def _is_two_way(group: Tensor) -> bool:
    """Return whether an edge is removed together with its reverse, so that new ones are as well."""
    index = group[group >= 0]
    return not index.numel() or int(torch.bincount(index).max()) > 1


def _check_target(original: PredictedInstance, instance: Instance) -> None:
    classes = original.target.task == "multiclass_classification"
    if classes and original.target.index != original.prediction:
        raise InputError(
            f"Expected `target` to be the predicted class, {original.prediction} (got "
            f"{instance.target}). Leave it out; `to` is the class that is wanted."
        )


def _check(max_size: int, answers: int | None, search: str, options: Any) -> None:
    check_size(max_size)
    if answers is not None:
        check_size(answers)
    if search not in SEARCHES:
        raise InputError(
            f"Expected `search` to be one of {', '.join(SEARCHES)} (got {search!r}). "
            "Choose one of these."
        )
    for name in _NO_OPTIONS:
        if name in options:
            raise TypeError(f"Expected no option `{name}` in flip() (got one). Leave it out.")
