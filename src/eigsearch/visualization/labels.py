"""Names of classes, nodes and edges on pages and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch import Tensor
from torch_geometric.data import Data

from eigsearch.explanation import sentence as sentences
from eigsearch.visualization.elements import is_element

if TYPE_CHECKING:
    from eigsearch.datasets import GraphDataset
    from eigsearch.explanation.explanation import SubgraphExplanation


@dataclass(frozen=True)
class Names:
    """Names to show; what has no name is shown by its number.

    Attributes:
        title: Name of the data set or model.
        class_names: The name of each class.
        node_names: The name of each `data.node_label`; without that field, of each node.
        edge_names: Meaning of the columns of a one-hot `edge_attr`; for molecules `"single"`,
            `"double"`, `"triple"`, `"aromatic"`.
    """

    title: str = ""
    class_names: tuple[str, ...] | None = None
    node_names: tuple[str, ...] | None = None
    edge_names: tuple[str, ...] | None = None

    @staticmethod
    def of(dataset: GraphDataset) -> Names:
        """Return the names that a data set defines."""
        return Names(
            title=dataset.name,
            class_names=dataset.class_names,
            node_names=dataset.node_names,
        )

    @property
    def are_elements(self) -> bool:
        """Whether the node names are chemical elements; `?…` is an unknown one."""
        known = [name for name in self.node_names or () if not name.startswith("?")]
        return "C" in known and all(map(is_element, known))

    def class_name(self, index: int) -> str:
        """Return the name of a class, by default `class 1`."""
        if self.class_names and 0 <= index < len(self.class_names):
            return self.class_names[index]
        return f"class {index}"

    def labels(self, data: Data) -> list[str] | None:
        """Return the name of each node, or None if nodes have only numbers."""
        if not self.node_names:
            return None
        index = data.get("node_label")
        if not isinstance(index, Tensor):
            return list(self.node_names) if len(self.node_names) == data.num_nodes else None
        return [self._node_name(int(label)) for label in index]

    def _node_name(self, label: int) -> str:
        assert self.node_names
        return self.node_names[label] if 0 <= label < len(self.node_names) else f"?{label}"


def output_name(explanation: SubgraphExplanation, names: Names) -> str:
    """Return the name of φ: the probability of a class, or a regression output."""
    return sentences.output_name(explanation, names.class_name(explanation.target))


def true_label(explanation: SubgraphExplanation) -> int | float | None:
    """Return the label of the explained graph or node, or None if there is none."""
    label = explanation.data.get("y")
    if not isinstance(label, Tensor):
        return None
    if explanation.node is not None:
        label = label[explanation.node] if label.dim() else label
    elif explanation.config.get("task") == "regression" and label.numel() > 1:
        label = label.flatten()[explanation.target]
    if label.numel() != 1:
        return None
    value = float(label)
    return int(value) if value.is_integer() else value
