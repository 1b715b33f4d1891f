"""Malformed and hostile contents of every kind of file that a command reads."""

from __future__ import annotations

import io
import json
import os
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import torch
from safetensors.torch import save as tensors_as_bytes

from eigsearch.bench.rows.schema import ROWS
from tests.faults.conftest import GRAPHS

BOMB = b"\x80\x04cposix\nmkdir\n(S'exploded'\ntR."
BYTES = {
    "empty": b"",
    "binary": bytes(range(256)) * 4,
    "no-text": b"\xff\xfe\x00\x00",
    "deep": b"[" * 100_000,
    "pickle": BOMB,
    "archive": b"PK\x03\x04" + b"\x00" * 100,
    "html": b"<html><script>alert(1)</script></html>",
    "long-line": b"a" * 2_000_000,
    "traversal": b"../../../etc/passwd\n",
    "escape": b"\x1b[2J\x07[/red][link=file:///etc]x[/link]\n",
}


class Bomb:
    def __reduce__(self) -> tuple:
        return os.mkdir, ("exploded",)


def saved(value: Any) -> bytes:
    """Return what `torch.save` writes."""
    stream = io.BytesIO()
    torch.save(value, stream)
    return stream.getvalue()


def table(**columns: Any) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def _null_rows() -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([{"run": "x"}], ROWS), stream)
    return stream.getvalue()


def graph(**changes: Any) -> bytes:
    """Return a list of one graph with other attributes, as a file."""
    other = GRAPHS[0].clone()
    for name, value in changes.items():
        setattr(other, name, value)
    return saved([other])


LONG = torch.long
PT = {
    "bomb": saved([Bomb()]),
    "bomb-in-a-dict": saved({"x": Bomb(), "edge_index": Bomb()}),
    "bomb-in-a-graph": graph(extra=Bomb()),
    "number": saved(1),
    "no-graphs": saved([]),
    "texts": saved(["a", "b"]),
    "edges-of-floats": graph(edge_index=torch.rand(2, 3)),
    "edges-outside": graph(edge_index=torch.full((2, 3), 10**6)),
    "edges-negative": graph(edge_index=torch.full((2, 3), -1)),
    "edges-of-three": graph(edge_index=torch.zeros(3, 2, dtype=LONG)),
    "no-edges": graph(edge_index=torch.zeros(2, 0, dtype=LONG)),
    "features-nan": graph(x=torch.full_like(GRAPHS[0].x, float("nan"))),
    "features-of-another-size": graph(x=torch.rand(GRAPHS[0].num_nodes, 3)),
    "features-of-texts": graph(x="text"),
    "edge-weights-of-another-length": graph(edge_attr=torch.rand(3, 2)),
    "archive-of-nothing": saved({})[:200],
    "features-without-values": graph(x=torch.ones(GRAPHS[0].num_nodes, 10, device="meta")),
    "class-huge": graph(y=torch.tensor([1e300], dtype=torch.float64)),
    "atoms-of-floats": graph(node_label=torch.rand(GRAPHS[0].num_nodes)),
    "atoms-in-two-dimensions": graph(node_label=torch.ones(GRAPHS[0].num_nodes, 2, dtype=LONG)),
    "smiles-half-a-character": graph(smiles="C\ud800"),
    "smiles-of-numbers": graph(smiles=7),
}
COMPLEX = {"class-complex": graph(y=torch.tensor([1j]))}
TENSORS = {
    "no-edges-at-all": tensors_as_bytes({"x": torch.ones(3, 10)}),
    "edges-of-floats": tensors_as_bytes({"x": torch.ones(3, 10), "edge_index": torch.rand(2, 4)}),
    "edges-outside": tensors_as_bytes(
        {"x": torch.ones(3, 10), "edge_index": torch.full((2, 4), 99)}
    ),
    "names-of-others": tensors_as_bytes({"_evil": torch.ones(3)}),
    "header-too-long": (10**12).to_bytes(8, "little") + b"{}",
    "header-of-lists": (2).to_bytes(8, "little") + b"[]",
    "offsets-outside": (74).to_bytes(8, "little")
    + b'{"x":{"dtype":"F32","shape":[99999999],"data_offsets":[0,399999996]}}     ',
}
SMILES = {
    "no-molecule": b"smiles\nnot a molecule\n",
    "other-column": b"smell\nsweet\n",
    "header-only": b"smiles\n",
    "cells-missing": b"smiles,label\nCCO\n,1,2,3\n",
    "formula": b'smiles\n"=cmd|calc!A0"\n',
    "quote-open": b'smiles\n"CCO\n',
    "no-atoms": b'smiles\n""\n',
    "huge-ring": b"smiles\nC%99999\n",
}
LABELS = {
    "huge": b"smiles,label\nCCO,99999999999999999999999\nCCN,1\n",
    "not-finite": b"smiles,label\nCCO,nan\nCCN,inf\n",
    "negative": b"smiles,label\nCCO,-1\nCCN,-2\n",
    "mixed": b"smiles,label\nCCO,a\nCCN,1\n",
    "missing": b"smiles,label\nCCO,\nCCN,\n",
    "dates": b"smiles,label\nCCO,2020-01-01\nCCN,2021-01-01\n",
}
PARQUET = {
    "other-column": table(a=[1]),
    "numbers": table(smiles=[1, 2]),
    "lists": table(smiles=[[1]]),
    "nothing": table(smiles=[None]),
    "no-rows": table(smiles=pa.array([], pa.string())),
}
SDF = {"no-molecule": b"\n\n\n  1  0\nM  END\n$$$$\n", "ends-early": b"mol\n\n\n 99 99  0"}
LINKS = {
    "words": b"one,two\n",
    "one-number": b"3\n",
    "three": b"1,2,3\n",
    "outside": b"0,999999\n",
    "negative": b"-1,0\n",
    "huge": b"1,99999999999999999999999999\n",
    "types": b"user:1,movie:2\n",
    "comment": b"# nothing\n",
    "itself": b"0,0\n",
    "json": b"[[0, 1]]",
}
SOURCES = {
    "syntax": b"def (:\n",
    "nothing-of-the-name": b"x = 1\n",
    "no-class": b"Net = 3\n",
    "raises": b"raise RuntimeError('no')\n",
    "exits": b"import sys\nsys.exit(0)\n",
    "missing-import": b"import not_a_package_of_anybody\n",
    "no-module": b"class Net:\n    pass\n",
    "wants-arguments": b"import torch\nclass Net(torch.nn.Module):\n"
    b"    def __init__(self, width):\n        super().__init__()\n",
    "no-forward": b"import torch\nclass Net(torch.nn.Module):\n    pass\n",
    "null-bytes": b"x = 1\x00\n",
}
STATE = {
    "bomb": saved({"conv.lin.weight": Bomb()}),
    "list": saved([1, 2]),
    "names-of-others": saved({"nobody.knows": torch.ones(2)}),
    "shapes-of-others": saved({"layer.weight": torch.ones(1, 1), "layer.bias": torch.ones(1)}),
    "tensors": tensors_as_bytes({"nobody.knows": torch.ones(2)}),
    "texts": saved({"layer.weight": "text", "layer.bias": None}),
}
PLANS = {
    "section-number": b"section = 1\n",
    "unknown-key": b"[[section]]\nevil = 1\n",
    "unknown-setting": b'[[section]]\nname="a"\nsettings=["X/y"]\nexplainers=["random"]\n',
    "path-as-name": b'[[section]]\nname="../../up"\nsettings=["BA-2Motifs/gin"]\n'
    b'explainers=["random"]\nsample=1\n',
    "unknown-explainer": b'[[section]]\nname="a"\nsettings=["BA-2Motifs/gin"]\n'
    b'explainers=["os.system"]\n',
    "import-of-a-shell": b'[[section]]\nname="a"\nsettings=["BA-2Motifs/gin"]\n'
    b'explainers=["os:system"]\nsample=1\n',
    "json": b'{"section": []}',
    "no-file-of-code": b'[[section]]\nname="a"\nsettings=["nofile.py:f/gin"]\n'
    b'explainers=["random"]\n',
}
MANIFESTS = {
    "list": b"[]",
    "null": b"null",
    "empty-object": b"{}",
    "numbers": b'{"config": 1, "rows": 1, "shard_size": 1}',
    "no-shards": b'{"config": {}, "rows": 3, "shard_size": 0}',
    "huge": b'{"config": {}, "rows": 1e400, "shard_size": 1}',
    "paths": json.dumps(
        {"config": {"model_name": "../x.py:Net"}, "rows": 1, "shard_size": 1}
    ).encode(),
}
BENCH_ROWS = {
    "other-columns": table(a=[1]),
    "run-alone": table(run=["x"]),
    "run-of-numbers": table(run=[1]),
    "all-null": _null_rows(),
    "cut": table(run=["x"])[:60],
}
