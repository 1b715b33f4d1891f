"""The result: a chosen subgraph, why it was chosen, and how it was obtained."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch_geometric.data import Data
from torch_geometric.explain import Explanation, HeteroExplanation

from eigsearch._utils.atomic_files import write_atomic
from eigsearch.errors import InputError
from eigsearch.explanation.features import removed_features
from eigsearch.explanation.graph_export import to_networkx
from eigsearch.explanation.masks import ExplanationMasks
from eigsearch.explanation.notes import note_on_gain
from eigsearch.explanation.paths import LinkPath, link_paths
from eigsearch.explanation.plain_subgraph import plain_subgraph
from eigsearch.explanation.pyg_conversion import from_pyg, to_pyg
from eigsearch.explanation.pyg_explanation import EdgeInducedExplanation, TypedEdgeExplanation
from eigsearch.explanation.sentence import TargetName, agreement_sentence, sentence
from eigsearch.explanation.serialization import from_plain, read_json, to_plain
from eigsearch.explanation.typed_subgraph import typed_subgraph
from eigsearch.explanation.writers import find_writer
from eigsearch.search import Curve
from eigsearch.tasks import level_of

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes

    from eigsearch.visualization import Names


@dataclass(frozen=True, eq=False)
class SubgraphExplanation(ExplanationMasks):
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

    def elbow(self, share: float = 0.9) -> int:
        """Return the smallest evaluated size that keeps a share of the gain.

        `at(elbow())` is the explanation of that size. Without a gain to keep it is the size itself.

        Args:
            share: The share of the gain to keep, above 0 and up to 1.

        Raises:
            InputError: If `share` is not in that range.
        """
        if not isinstance(share, Real) or not 0 < share <= 1:
            raise InputError(
                f"Expected `share` to be above 0 and at most 1 (got {share!r}). "
                "Pass 0.9 to keep nine tenths of the gain."
            )
        enough = (self.curve.gain >= share * self.gain) & (self.curve.size <= self.size)
        sizes = self.curve.size[enough] if self.gain > 0 else self.curve.size[:0]
        return int(sizes.min()) if sizes.numel() else self.size

    def at(self, size: int) -> SubgraphExplanation:
        """Return the same ranking cut at another size.

        Its fidelities are those of the curve, and NaN at a size that was not evaluated. At its own
        size it is the explanation itself, which a search may have found beside the ranking.
        """
        if not 0 <= size <= self.num_groups:
            raise InputError(
                f"Expected `size` to be from 0 to {self.num_groups} (got {size}). "
                "Pass a number of groups that the graph has."
            )
        if size == self.size:
            return self
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
        return note_on_gain(self.found, self.curve, task, search, unit, self.config.get("above"))

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
