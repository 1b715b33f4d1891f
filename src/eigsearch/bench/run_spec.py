"""A run: one explainer on one setting with one seed, and the key that its content has."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from eigsearch.bench.rows.schema import SCHEMA_VERSION
from eigsearch.bench.run.digests import (
    data_digest,
    explainer_digest,
    search_digest,
    weights_digest,
)
from eigsearch.bench.run.own_parts import own_code_digest

Kind = Literal["explain", "induce", "motif"]

_DEFAULTS = {"metrics": (), "limits": {}, "replica": 0, "timed": True}  # these stay out of keys


@dataclass(frozen=True)
class RunSpec:
    """Everything that decides the rows of a run.

    A run ranks each prediction once; every search and every limit reads that one ranking.

    Attributes:
        section: The part of the plan that asked for the run.
        kind: `"explain"` explains predictions, `"induce"` measures inducing techniques, `"motif"`
            what the edges that are known to matter gain by themselves.
        dataset: The data set, by name.
        model: The network for it, by name: the zoo's, or with `weights` the paper's own.
        explainer: What ranks, by name.
        searches: What turns the ranking into a subgraph: names of searches; `"fixed"` cuts.
        sparsities: The limit that each search is given, or where the ranking is cut.
        limits: The same for single searches, instead of `sparsities`.
        seed: Draws the sample of predictions, and is the explainer's own seed.
        sample: How many predictions to explain.
        max_groups: The largest graph to explain; None takes any.
        robust_samples: The random edits for robust fidelity; 0 leaves it out.
        stability_samples: The disturbed copies for stability; 0 leaves it out.
        pictures: How many of the explanations are kept whole, to be drawn.
        fit_sample: How many graphs an explainer that trains is trained on; None takes all.
        options: The options of the explainer's constructor.
        weights: The directory with the paper's own weights; None takes networks of the zoo.
        replica: Which of the zoo's networks for the setting, from 0.
        timed: Whether each prediction is explained by itself, so that its time is known; else all
            of a sample share model calls.
        metrics: Metrics of the user, as `file.py:name`.
    """

    section: str
    kind: Kind
    dataset: str
    model: str
    explainer: str
    searches: tuple[str, ...]
    sparsities: tuple[float, ...]
    seed: int
    sample: int
    max_groups: int | None = None
    robust_samples: int = 0
    stability_samples: int = 0
    pictures: int = 0
    fit_sample: int | None = None
    options: dict[str, Any] = field(default_factory=dict, hash=False)
    weights: str | None = None
    metrics: tuple[str, ...] = ()
    limits: dict[str, tuple[float, ...]] = field(default_factory=dict, hash=False)
    replica: int = 0
    timed: bool = True

    def limits_of(self, search: str) -> tuple[float, ...]:
        """Return the limits that a search is given."""
        return self.limits.get(search, self.sparsities)

    @property
    def key(self) -> str:
        """The hash of the run's content: its fields, data, weights, code and columns."""
        own = {name: own_code_digest(name) for name in self.metrics}
        fields = {name: value for name, value in asdict(self).items() if name != "metrics"}
        content = {
            **{k: v for k, v in fields.items() if k not in _DEFAULTS or v != _DEFAULTS[k]},
            **({"metrics": own} if own else {}),
            "data": data_digest(self.dataset),
            "weights": weights_digest(self.dataset, self.model, self.weights, self.replica),
            "code": [explainer_digest(self.explainer), search_digest(self.searches)],
            "schema": SCHEMA_VERSION,
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def title(self) -> str:
        """The run in a few words, for people."""
        return f"{self.section}: {self.dataset} {self.model}, {self.explainer}, seed {self.seed}"
