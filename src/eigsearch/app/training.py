"""Train explainers on a small part of the data, once per session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eigsearch import explainers
from eigsearch.app.session import Session
from eigsearch.errors import InputError

MOST_GRAPHS = 32  # graphs to train on: seconds instead of minutes


class Rankers:
    """The explainers of a session by name; one that trains stays trained."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._trained: dict[str, Any] = {}

    def make(self, name: str) -> Any:
        """Return an explainer, trained if it was before.

        Its randomness, if it has any, starts at the same seed each time.
        """
        if name in self._trained:
            return self._trained[name]
        try:
            return explainers.get(name, seed=0)
        except InputError:  # it takes no seed
            return explainers.get(name)

    def has_to_train(self, name: str) -> bool:
        """Return whether an explainer trains, and has not yet."""
        return name not in self._trained and explainers.get(name).card.trains

    def train(self, name: str, model: Any) -> None:
        """Train an explainer on what a copy of the session's model predicts."""
        ranker, options = self.make(name), self.session.options
        ranker.fit(
            model,
            self._graphs(),
            forward=options.forward,
            task=options.task,
            return_type=options.return_type,
        )
        self._trained[name] = ranker

    @property
    def part(self) -> str:
        """A description of the training data."""
        if self.session.level != "graph":
            return f"{self.session.level}s of the graph"
        count = min(self.session.count, MOST_GRAPHS)
        return f"{count} of {self.session.count:,} graphs"

    def _graphs(self) -> Sequence[Any]:
        """Return graphs that are spread evenly over the data set, or the graph of a node set."""
        session = self.session
        if session.level != "graph":
            return [session.graph(0)]
        spread = np.linspace(0, session.count - 1, min(session.count, MOST_GRAPHS))
        return [session.graph(int(item)) for item in spread]
