"""The result: a chosen subgraph, why it was chosen, and how it was obtained."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.explain import Explanation, HeteroExplanation

from eigsearch._utils.atomic_files import write_atomic
from eigsearch.errors import InputError
from eigsearch.explanation.features import features_of, per_entry, removed_features, squeezed
from eigsearch.explanation.graph_export import to_networkx
from eigsearch.explanation.notes import note_on_gain
from eigsearch.explanation.paths import LinkPath, link_paths
from eigsearch.explanation.plain_subgraph import plain_subgraph
from eigsearch.explanation.pyg_conversion import from_pyg, to_pyg
from eigsearch.explanation.pyg_explanation import EdgeInducedExplanation, TypedEdgeExplanation
from eigsearch.explanation.sentence import TargetName, agreement_sentence, sentence
from eigsearch.explanation.serialization import from_plain, read_json, to_plain
from eigsearch.explanation.typed_subgraph import typed_subgraph
from eigsearch.explanation.writers import find_writer
from eigsearch.inputs.feature_groups import FeatureGroups
from eigsearch.inputs.relations import EdgeType
from eigsearch.inputs.typed_graph import FlatView, flat_view
from eigsearch.search import Curve, NearOptimal, Step
from eigsearch.search.connected import count_components
from eigsearch.search.near_optimal import near_optimal_prefixes
from eigsearch.tasks import anchors_of, level_of

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes

    from eigsearch.visualization import Names


@dataclass(frozen=True, eq=False)
class SubgraphExplanation:
    """The subgraph that carries a prediction.

    Attributes:
        data: The graph that was explained, as it was given.
        target: The explained class (or output column of a regression).
        prediction: What the model predicts: a class, or the value of a regression.
        value: φ(G): the probability of the target on the whole graph, or the regressed value.
        keep: The chosen groups, `[G]`.
        score: The score of each group, `[G]`: its linear gradient, or what a ranker gave it.
        order: The groups from the most to the least important.
        group: The group of each evaluated edge.
        curve: Fidelity against size, one entry for each size that was evaluated.
        found: The entry of the chosen subgraph.
        node: The explained node, in a typed graph as `("paper", 7)`; None if it is no node's.
        edges: The evaluated edges, where they are not the whole graph: a computation graph. Those
            of a typed graph are numbered type by type.
        engine: The engine that evaluated the candidates.
        config: How the explanation was obtained: options, task, return type, versions.
        note: A sentence about an answer that needs one, such as an empty explanation.
        path: The steps of the search, from the first subgraph to the chosen one.
        agreement: The evaluated subgraphs that are as good, as a search that leaves the ranking
            counts them; None if all evaluated ones are in the curve.
        features: The groups of features, which follow the groups of edges; none by default.
        link: The two ends of the explained link; None if it is no link's.
    """

    data: Any
    target: int
    prediction: int | float
    value: float
    keep: Tensor
    score: Tensor
    order: Tensor
    group: Tensor
    curve: Curve
    found: Curve
    node: Any = None
    edges: Tensor | None = None
    engine: str = "batched"
    config: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    path: tuple[Step, ...] = ()
    agreement: NearOptimal | None = None
    features: tuple[FeatureGroups, ...] = ()
    link: Any = None

    @property
    def anchors(self) -> tuple[Any, ...]:
        """The nodes that the prediction is about: none for a graph, the two ends of a link."""
        return anchors_of(self.node, self.link)

    @property
    def size(self) -> int:
        """The number of groups in the explanation."""
        return int(self.keep.sum())

    @property
    def num_groups(self) -> int:
        """The number of groups that the explanation was chosen from."""
        return self.keep.numel()

    @property
    def edge_size(self) -> int:
        """The number of groups of edges in the explanation."""
        return int(self.keep[: self.num_edge_groups].sum())

    @property
    def feature_size(self) -> int:
        """The number of groups of features in the explanation."""
        return self.size - self.edge_size

    @property
    def num_edge_groups(self) -> int:
        """The number of groups of edges that the explanation was chosen from."""
        return self.num_groups - sum(part.count for part in self.features)

    @property
    def sparsity(self) -> float:
        """1 − |S| / |G|, counted in groups."""
        return 1 - self.size / self.num_groups if self.num_groups else 0.0

    @property
    def edge_mask(self) -> Any:
        """The chosen subgraph, bool `[E]`, aligned with `edge_index`; by edge type if typed."""
        return self._by_edge_type(self.flat_edge_mask)

    @property
    def edge_score(self) -> Any:
        """The score of the group that each edge is in, `[E]`; 0 where no group can reach.

        A dict by edge type if the graph is typed.
        """
        return self._by_edge_type(self.flat_edge_score)

    @property
    def node_mask(self) -> Any:
        """The nodes of the subgraph, bool `[N]`: the ends of its edges, and the explained nodes.

        A dict by node type if the graph is typed. Where features of nodes were asked for, it is
        what PyG calls so, the chosen features: `[1, F]` for columns, `[N, 1]` for nodes, `[N, F]`
        for entries.
        """
        if any(part.attribute == "x" for part in self.features):
            return per_entry(self, features_of(self, "x"), self.keep)
        schema, mask = self.flat.schema, self.flat_node_mask
        return mask if schema is None else schema.by_node_type(mask)

    @property
    def flat(self) -> FlatView:
        """The graph without types, in which those of a typed graph are numbered type by type."""
        return flat_view(self.data, paired=False)

    @property
    def evaluated_ends(self) -> Tensor:
        """The ends of the evaluated edges by their number in the flat view, `[2, e]`."""
        return self.flat.ends(self.edges)

    @property
    def flat_anchors(self) -> list[int]:
        """The explained nodes by their number in the flat view."""
        schema = self.flat.schema
        return [a if schema is None else schema.flat_node(a) for a in self.anchors]

    @property
    def flat_edge_mask(self) -> Tensor:
        """The chosen subgraph in the flat view, bool `[E]`."""
        return self._per_edge(self.keep)

    @property
    def flat_edge_score(self) -> Tensor:
        """The score of the group that each edge of the flat view is in, `[E]`."""
        return self._per_edge(self.score)

    @property
    def flat_node_mask(self) -> Tensor:
        """The nodes of S as the model saw it, in the flat view, bool `[N]`."""
        ends = self.evaluated_ends[:, self._present]
        mask = torch.zeros(self.flat.num_nodes, dtype=torch.bool)
        mask[ends.flatten().cpu()] = True
        mask[self.flat_anchors] = True
        for part in self.features:
            if part.attribute == "x" and part.by_row:
                mask |= per_entry(self, part, self.keep).any(dim=1).cpu()
        if self.features and self.edges is None and not (mask.any() and self.num_edge_groups):
            mask[:] = True  # what has no edge to go by keeps every node
        return mask.to(ends.device)

    @property
    def sizes_by_type(self) -> dict[EdgeType, int]:
        """The number of chosen edges of each type; empty for a graph without types."""
        schema = self.flat.schema
        if schema is None:
            return {}
        chosen = schema.by_edge_type(self.flat_edge_mask)
        return {kind: int(mask.sum()) for kind, mask in chosen.items()}

    def _by_edge_type(self, flat: Tensor) -> Any:
        schema = self.flat.schema
        return flat if schema is None else schema.by_edge_type(flat)

    @property
    def feature_mask(self) -> Tensor:
        """The chosen features of nodes, bool: `[F]` for columns, `[N]` for nodes, else `[N, F]`."""
        return squeezed(per_entry(self, features_of(self, "x"), self.keep))

    @property
    def feature_score(self) -> Tensor:
        """The score of the group that each feature of nodes is in, shaped as `feature_mask`."""
        return squeezed(per_entry(self, features_of(self, "x"), self.score))

    @property
    def feature_share(self) -> Tensor:
        """The share of the near-optimal subgraphs that hold each feature, as `feature_mask`."""
        return squeezed(per_entry(self, features_of(self, "x"), self.near_optimal.share))

    @property
    def edge_feature_mask(self) -> Tensor:
        """The chosen columns of `edge_attr`, bool `[D]`."""
        return squeezed(per_entry(self, features_of(self, "edge_attr"), self.keep))

    @property
    def edge_feature_score(self) -> Tensor:
        """The score of each column of `edge_attr`, `[D]`."""
        return squeezed(per_entry(self, features_of(self, "edge_attr"), self.score))

    @property
    def _present(self) -> Tensor:
        """The evaluated edges that are in S as the model saw it: chosen, or never removed."""
        return self._per_evaluated_edge(self.keep) | (self.group < 0)

    @property
    def fidelity_plus(self) -> float:
        """φ(G) − φ(G[E∖E_S]): what is lost without the subgraph; higher is better.

        Of a regression without `above`, |φ(G) − φ(G[E∖E_S])|: change either way counts.
        """
        return _only(self.found.fidelity_plus)

    @property
    def fidelity_minus(self) -> float:
        """φ(G) − φ(S): what is lost with the subgraph alone; lower is better.

        Of a regression without `above`, |φ(G) − φ(S)|: change either way counts.
        """
        return _only(self.found.fidelity_minus)

    @property
    def gain(self) -> float:
        """Fidelity+ − Fidelity−."""
        return self.fidelity_plus - self.fidelity_minus

    @property
    def near_optimal(self) -> NearOptimal:
        """The evaluated subgraphs that are as good as this one, up to 0.01 in gain.

        For a regression, up to one percent of the gain.
        """
        if self.agreement is not None:
            return self.agreement
        task = str(self.config.get("task"))
        return near_optimal_prefixes(task, self.curve, self.order.cpu(), self.size, self.gain)

    @property
    def edge_share(self) -> Any:
        """The share of the near-optimal subgraphs that hold each edge, `[E]`; by edge type."""
        return self._by_edge_type(self._per_edge(self.near_optimal.share))

    @property
    def components(self) -> int:
        """The number of connected pieces of the subgraph; the explained nodes belong to it."""
        nodes = self.flat_node_mask.nonzero().flatten().tolist()
        return count_components(self.evaluated_ends[:, self._present].cpu().numpy(), nodes)

    def elbow(self, share: float = 0.9) -> int:
        """Return the smallest evaluated size that keeps a share of the gain.

        `at(elbow())` is the explanation of that size. Without a gain to keep it is the size itself.

        Args:
            share: The share of the gain to keep, above 0 and up to 1.

        Raises:
            InputError: If `share` is not in that range.
        """
        if not 0 < share <= 1:
            raise InputError(
                f"Expected `share` to be above 0 and at most 1 (got {share!r}). "
                "Pass 0.9 to keep nine tenths of the gain."
            )
        enough = (self.curve.gain >= share * self.gain) & (self.curve.size <= self.size)
        sizes = self.curve.size[enough] if self.gain > 0 else self.curve.size[:0]
        return int(sizes.min()) if sizes.numel() else self.size

    def at(self, size: int) -> SubgraphExplanation:
        """Return the same ranking cut at another size.

        Its fidelities are those of the curve, and NaN at a size that was not evaluated.
        """
        if not 0 <= size <= self.num_groups:
            raise InputError(
                f"Expected `size` to be from 0 to {self.num_groups} (got {size}). "
                "Pass a number of groups that the graph has."
            )
        keep = torch.zeros_like(self.keep)
        keep[self.order[:size]] = True
        entry = (self.curve.size == size).nonzero().flatten().tolist()
        found = self.curve[entry[0]] if entry else Curve.empty()
        cut = replace(self, keep=keep, found=found, path=(), agreement=None)
        others = self.note.removeprefix(self._gain_note).strip()
        return replace(cut, note=" ".join(filter(None, [cut._gain_note, others])))

    @property
    def _gain_note(self) -> str:
        """What the note says about the gain of this very subgraph."""
        task, search = str(self.config.get("task")), str(self.config.get("search"))
        unit = "group" if self.features else "edge"
        return note_on_gain(self.found, self.curve, task, search, unit)

    def subgraph(self) -> Any:
        """Return the explanation as a graph of its own, which is what φ(S) was computed on.

        It holds the chosen edges and their endpoints, edges that are never removed, and the
        explained nodes; features that are not chosen are at the baseline, and what numbers nodes
        of the whole graph, such as `edge_label_index`, is left out.
        """
        schema = self.flat.schema
        if schema is not None:
            present = schema.by_edge_type(self._spread(self._present))
            return typed_subgraph(self.data, self.node_mask, present)
        data = removed_features(self, self.data) if self.features else self.data
        return plain_subgraph(data, self.flat_node_mask, self._spread(self._present))

    def paths(self, k: int | None = 10, max_length: int = 3) -> list[LinkPath]:
        """Return the best paths between the two ends of the explained link, by their weakest edge.

        `metrics.path_drops` asks the model what goes with a whole path.

        Args:
            k: How many; None for all.
            max_length: How many edges a path may have.
        """
        return link_paths(self, k, max_length)

    def sentence(self) -> str:
        """Return the explanation in one sentence, and in another how sure it is."""
        finding = sentence(self, TargetName.of(self), "edge")
        return " ".join(filter(None, [finding, agreement_sentence(self, "edge")]))

    def to_pyg(self) -> EdgeInducedExplanation | TypedEdgeExplanation:
        """Return the explanation as a PyG `Explanation` with a float `edge_mask`.

        A graph may have masks already, the ground truth say; here they are the explanation's. That
        of a typed graph is a `HeteroExplanation` with a mask for every node and edge type.
        """
        return to_pyg(self)

    @staticmethod
    def from_pyg(explanation: Explanation | HeteroExplanation) -> SubgraphExplanation:
        """Return what `to_pyg`, or `EiGSearch` in PyG's `Explainer`, made of one prediction."""
        return from_pyg(explanation)

    def summary(self) -> dict[str, Any]:
        """Return the numbers of the explanation, without graph and scores."""
        return {
            "size": self.size,
            "num_groups": self.num_groups,
            "sparsity": self.sparsity,
            "fidelity_plus": self.fidelity_plus,
            "fidelity_minus": self.fidelity_minus,
            "gain": self.gain,
            "curve": self.curve,
        }

    def to_networkx(self) -> nx.DiGraph:
        """Return the evaluated graph with `kept`, `score` and `rank` of its edges."""
        return to_networkx(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the features, as plain Python values."""
        return to_plain(self)

    @staticmethod
    def from_dict(values: dict[str, Any], data: Data | None = None) -> SubgraphExplanation:
        """Return the explanation that `to_dict` described; `data` brings the features back."""
        return SubgraphExplanation(**from_plain(values, data))

    def save(self, path: str | Path, names: Names | None = None) -> Path:
        """Write the explanation to a file and return its path; the suffix says how.

        `.json` holds everything but the features and reads back with `load`; `.html` is a page to
        look at; `.svg`, `.png` and `.pdf` are pictures; `.graphml` (Gephi) and `.cyjs` (Cytoscape)
        are graphs for other programs. `names` says what to call classes and nodes there.
        """
        path = Path(path)
        if path.suffix == ".json":
            write_atomic(path, json.dumps(self.to_dict()).encode())
            return path
        return find_writer(path.suffix)(self, path, names)

    def plot(self, ax: Axes | None = None, names: Names | None = None) -> Axes:
        """Draw the graph with the chosen subgraph on matplotlib axes and return them."""
        return find_writer("axes")(self, ax, names)

    def _repr_html_(self) -> str:
        """Return the page of the explanation as a notebook shows it."""
        return find_writer("notebook")(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """Return the explanation as a widget and as a page, of which a notebook shows one."""
        return find_writer("mimebundle")(self)

    @staticmethod
    def load(path: str | Path, data: Data | None = None) -> SubgraphExplanation:
        """Return the explanation that `save` wrote as JSON."""
        return SubgraphExplanation.from_dict(read_json(Path(path)), data)

    def __repr__(self) -> str:
        subject = level_of(self.anchors).subject(self.anchors)
        where = "".join(f"{name}={value}, " for name, value in subject.items())
        return (
            f"SubgraphExplanation({where}target={self.target}, size={self.size} of "
            f"{self.num_groups}, gain={self.gain:.3f}, fidelity_plus={self.fidelity_plus:.3f}, "
            f"fidelity_minus={self.fidelity_minus:.3f})"
        )

    def _per_edge(self, per_group: Tensor) -> Tensor:
        """Return a value per group for each edge of the graph."""
        return self._spread(self._per_evaluated_edge(per_group))

    def _per_evaluated_edge(self, per_group: Tensor) -> Tensor:
        per_group = per_group.to(self.group.device)
        # An edge that is never removed is in group −1, and takes the zero at the end.
        return torch.cat([per_group, per_group.new_zeros(1)])[self.group]

    def _spread(self, local: Tensor) -> Tensor:
        """Return values of the evaluated edges for all edges of the graph."""
        if self.edges is None:
            return local
        spread = local.new_zeros(self.flat.num_edges)
        spread[self.edges] = local
        return spread


def _only(column: Tensor) -> float:
    return float(column[0]) if column.numel() else float("nan")
