"""The result for a prediction that could not be explained."""

from __future__ import annotations

from dataclasses import dataclass

from eigsearch.errors import EigsearchError, ModelError
from eigsearch.inputs.typed_graph import LinkName, NodeName
from eigsearch.tasks import anchors_of, level_of


@dataclass(frozen=True)
class FailedExplanation:
    """A prediction that could not be explained.

    Attributes:
        index: The position of the prediction in the data set.
        reason: Why it could not be explained, as one line.
        node: The node whose prediction it is.
        error: The class of the error.
        link: The two ends of the link whose prediction it is.
    """

    index: int
    reason: str
    node: NodeName | None = None
    error: type[EigsearchError] = ModelError
    link: LinkName | None = None

    def to_error(self) -> EigsearchError:
        """Return the failure as an error that names the graph or the node."""
        anchors = anchors_of(self.node, self.link)
        which = level_of(anchors).label(anchors) or f"graph {self.index}"
        if self.reason.startswith("Expected"):
            return self.error(f"{self.reason} That was {which} of the data set.")
        return ModelError(
            f"Expected the model to take {which} of the data set (got {self.reason}). Give it the "
            "attributes and sizes that the model was trained on, or pass on_error='skip'."
        )
