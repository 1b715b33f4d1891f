"""The columns of a row: the run, its results, times and machine."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

Row = dict[str, Any]

SCHEMA_VERSION = 1

_NAMES = ("run", "plan", "section", "dataset", "model", "task", "explainer", "level", "search")
REQUIRED = ("run", "section", "dataset", "model", "explainer")  # what tables are sorted by
_RESULTS = (
    *("sparsity", "value", "kept", "removed", "fidelity_plus", "fidelity_minus", "gain"),
    *("label_fidelity_plus", "label_fidelity_minus", "label_gain", "characterization"),
    *("robust_fidelity_plus", "robust_fidelity_minus", "robust_gain"),
    *("auc", "auc_whole", "auc_unsigned", "precision", "recall", "true_share"),
    *("noise_stability", "relabelling_stability"),
    *("intuitiveness", "exhaustiveness"),
)

# What differs between two runs of the same plan on the same machine.
TIMES = ("rank_seconds", "search_seconds", "seconds", "train_seconds", "load")

ROWS = pa.schema(
    [
        *((name, pa.string()) for name in _NAMES),
        ("limit", pa.float64()),
        *((name, pa.int64()) for name in ("seed", "graph", "node", "target")),
        ("pooled", pa.bool_()),
        ("status", pa.string()),
        ("reason", pa.string()),
        *((name, pa.int64()) for name in ("num_groups", "size", "evaluations")),
        *((name, pa.float32()) for name in _RESULTS),  # the precision of model outputs
        ("technique", pa.string()),
        *((name, pa.float32()) for name in TIMES),
        *((name, pa.int64()) for name in ("sample", "fit_sample", "dataset_size")),
        ("options", pa.string()),
        ("keep", pa.list_(pa.uint16())),
        ("picture", pa.string()),
        *((name, pa.string()) for name in ("engine", "provenance", "machine", "versions")),
        ("networks", pa.string()),  # "zoo" or "published"; null in rows of 0.1, which are the zoo's
        ("own_metrics", pa.string()),  # of the user, as JSON: name and value
        ("commit", pa.string()),  # of the checkout that ran; null where it was no checkout
        ("network", pa.int64()),  # which of the zoo's networks for the setting, from 0
    ]
)
