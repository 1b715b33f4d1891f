"""Names of classes, nodes and edges on pages and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any

from torch import Tensor
from torch_geometric.data import Data

from eigsearch.explanation import sentence as sentences
from eigsearch.explanation.sentence import TargetName, is_regression
from eigsearch.tasks import level_of
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
        output_names: The name of each value that a regression predicts.
        unit: The unit of these values.
    """

    title: str = ""
    class_names: tuple[str, ...] | None = None
    node_names: tuple[str, ...] | None = None
    edge_names: tuple[str, ...] | None = None
    output_names: tuple[str, ...] | None = None
    unit: str = ""

    @staticmethod
    def of(dataset: GraphDataset) -> Names:
        """Return the names that a data set defines."""
        return Names(
            title=dataset.name,
            class_names=dataset.class_names,
            node_names=dataset.node_names,
            output_names=dataset.output_names,
            unit=dataset.unit,
        )

    def to_lists(self) -> dict[str, list[str] | None]:
        """Return all but the title as lists of texts, as a manifest holds them."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values["unit"] = (self.unit,) if self.unit else None
        return {k: v and list(v) for k, v in values.items() if k != "title"}

    @staticmethod
    def from_lists(title: str, lists: Mapping[str, Sequence[str] | None]) -> Names:
        """Return the names that `to_lists` gave.

        >>> Names.from_lists("Solubility", Names(unit="mol/L").to_lists()).unit
        'mol/L'
        """
        tuples = {name: tuple(values) for name, values in lists.items() if values}
        (unit,) = tuples.pop("unit", ("",))
        return Names(title=title, unit=unit, **tuples)

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

    def class_of(self, explanation: Any, index: int) -> str:
        """Return the name of a class of an explanation; links have default names."""
        known = self.class_names and 0 <= index < len(self.class_names)
        return self.class_name(index) if known else sentences.class_names(explanation)(index)

    def classes_of(self, explanation: Any) -> list[str]:
        """Return the names of all classes: as given, else of a link; none for other predictions."""
        of_link = explanation.link is not None and explanation.config.get("num_outputs") == 1
        default = map(sentences.class_names(explanation), (0, 1)) if of_link else ()
        return list(self.class_names or default)

    def target_name(self, explanation: Any) -> TargetName:
        """Return the name of the explained class, or of the value of a regression."""
        default, index = TargetName.of(explanation), explanation.target
        names = self.output_names or ()
        if not is_regression(explanation):
            return TargetName.of_class(explanation, partial(self.class_of, explanation))
        return TargetName(names[index] if index < len(names) else default.name, self.unit)

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


def graph_field(data: Any, name: str) -> Any:
    """Return a graph-level attribute of a graph with or without types; None if missing."""
    return data.to_dict().get(name)


def explained_subject(explanation: SubgraphExplanation) -> str:
    """Return the subject of an explanation, such as "link 3–7"; "" for a graph."""
    return level_of(explanation.anchors).label(explanation.anchors)


def output_name(explanation: SubgraphExplanation, names: Names) -> str:
    """Return the name of φ: the probability of a class, or a regression output."""
    return sentences.output_name(explanation, names.target_name(explanation))
