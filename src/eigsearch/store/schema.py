"""Define the columns of a result: one row per explanation, all but the features."""

from __future__ import annotations

import pyarrow as pa

SCHEMA_VERSION = 4  # increase when columns change


def _list(kind: pa.DataType) -> pa.DataType:
    return pa.list_(pa.field("element", kind))  # the name that Parquet gives it


_INTEGERS = _list(pa.int64())
_POINT = pa.struct(
    [
        ("size", pa.int64()),
        ("kept", pa.float64()),
        ("removed", pa.float64()),
        ("fidelity_plus", pa.float64()),
        ("fidelity_minus", pa.float64()),
    ]
)
_STEP = pa.struct(
    [
        ("move", pa.string()),
        ("keep", _list(pa.bool_())),
        ("gain", pa.float64()),
        ("evaluations", pa.int64()),
    ]
)
_AGREEMENT = pa.struct(
    [
        ("count", pa.int64()),
        ("agreeing", pa.int64()),
        ("share", _list(pa.float64())),
        ("tolerance", pa.float64()),
    ]
)
_FEATURES = pa.struct(
    [
        ("attribute", pa.string()),
        ("index", _list(_INTEGERS)),
        ("baseline", _list(_list(pa.float64()))),
        ("places", _INTEGERS),
    ]
)
_CHANGE = [
    ("flipped", pa.bool_()),
    ("value_after", pa.float64()),
    ("prediction_after", pa.float64()),
    ("added", _list(_INTEGERS)),  # sources and targets
]
_FLIP = pa.struct(
    [
        *_CHANGE,
        ("additions", pa.int64()),
        ("others", _list(pa.struct([*_CHANGE, ("keep", _list(pa.bool_())), ("found", _POINT)]))),
    ]
)

ROWS = pa.schema(
    [
        # What was explained.
        ("index", pa.int64()),  # the graph's place in the data set
        ("node", pa.int64()),  # the explained node; null for a graph
        ("node_type", pa.string()),  # its type, in a typed graph
        ("link", _INTEGERS),  # the two ends of the explained link; null for graphs and nodes
        ("link_types", _list(pa.string())),  # their types, in a typed graph
        ("name", pa.string()),  # what the source calls the graph: its id, or its SMILES
        ("smiles", pa.string()),  # of a molecule, with atoms in the order of its nodes
        ("label", pa.float64()),  # what is known to be true: a class, or a value
        ("error", pa.string()),  # why there is no explanation; null where there is one
        ("task", pa.string()),
        ("return_type", pa.string()),
        ("num_outputs", pa.int64()),  # of the model, for one prediction
        ("target", pa.int64()),
        ("prediction", pa.float64()),
        ("value", pa.float64()),
        # What was found.
        ("size", pa.int64()),
        ("edge_size", pa.int64()),  # groups of edges among them; the others are features
        ("num_groups", pa.int64()),
        ("sparsity", pa.float64()),
        ("fidelity_plus", pa.float64()),
        ("fidelity_minus", pa.float64()),
        ("gain", pa.float64()),
        ("note", pa.string()),
        ("engine", pa.string()),
        # The graph: one entry per directed edge that could be removed.
        # Nodes of a typed graph are numbered type by type.
        ("num_nodes", pa.int64()),
        ("types", pa.string()),  # the types of nodes and of these edges as JSON; null without
        ("edge_source", _INTEGERS),
        ("edge_target", _INTEGERS),
        ("edge_mask", _list(pa.bool_())),
        ("edge_group", _INTEGERS),
        ("edge_id", _INTEGERS),  # where these edges stand in a node set's graph; null for a graph
        ("node_label", _INTEGERS),
        # One entry per group, per size that was evaluated, per step of the search.
        ("group_keep", _list(pa.bool_())),
        ("group_score", _list(pa.float64())),
        ("group_order", _INTEGERS),
        ("found", _list(_POINT)),
        ("curve", _list(_POINT)),
        ("path", _list(_STEP)),
        ("agreement", _AGREEMENT),  # near-optimal subgraphs; null if all of them are in the curve
        ("features", _list(_FEATURES)),  # the groups of features, which follow those of edges
        ("flip", _FLIP),  # what a counterfactual changes; null for other explanations
    ],
    metadata={"eigsearch": str(SCHEMA_VERSION)},
)

# Times are no part of a row: they alone differ when the same run is repeated.
TIMES = pa.schema(
    [("index", pa.int64()), ("node", pa.int64()), ("seconds", pa.float64())],
    metadata={"eigsearch": str(SCHEMA_VERSION)},
)

# What a line of the JSONL files holds of a row, next to its chosen edges.
LINE_COLUMNS = (
    *(
        "index",
        "node",
        "node_type",
        "link",
        "link_types",
        "name",
        "smiles",
        "label",
        "error",
        "task",
        "target",
        "prediction",
    ),
    *("value", "size", "edge_size", "num_groups", "sparsity", "fidelity_plus"),
    *("fidelity_minus", "gain", "note", "engine"),
)
