"""Malformed files of every kind give one sentence each: no raw error, and no code runs."""

from __future__ import annotations

import copy
import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from safetensors.torch import save_file as save_tensors
from typer.testing import CliRunner

from eigsearch import SubgraphExplanation, datasets, explain, store
from eigsearch.bench.plan import read_plan
from eigsearch.cli.app import app
from eigsearch.errors import EigsearchError
from eigsearch.models import load_model, save_model, zoo
from eigsearch.store.checksums import checksums_of
from eigsearch.store.formats import parquet_to_rows
from tests.faults.conftest import GRAPHS
from tests.parallel.networks import Small

WRONG: tuple[Any, ...] = (None, "text", -1, 2.5, 1e308, 10**30, True, [], {}, [[]], [{}], ["a"])
BYTES = {
    "empty": b"",
    "binary": bytes(range(256)),
    "no text": b"\xff\xfe\x00",
    "deep": b"[" * 100_000,
    "list": b"[]",
    "null": b"null",
    "number": b"1" * 5_000,
    "archive": b"PK\x03\x04" + b"\x00" * 100,
    "pickle": b"\x80\x04cos\nsystem\n(S'touch exploded'\ntR.",
}

TRIED: Counter[str] = Counter()  # the files that the test which runs now has read


def paths_in(value: Any, path: tuple = ()) -> Iterator[tuple]:
    """Yield the path of every entry of nested values; of long lists that of the first."""
    entries = dict(enumerate(value[:1])) if isinstance(value, list) else value
    for key, item in entries.items() if isinstance(entries, dict) else ():
        yield (*path, key)
        yield from paths_in(item, (*path, key))


def changed(value: Any, path: tuple, new: Any) -> Any:
    """Return nested values with another entry at a path, or without it where `new` is `...`."""
    result = copy.deepcopy(value)
    parent = result
    for key in path[:-1]:
        parent = parent[key]
    if new is ...:
        del parent[path[-1]]
    else:
        parent[path[-1]] = new
    return result


def json_variants(value: Any, count: int) -> Iterator[bytes]:
    """Yield malformed versions of a JSON document, as many as are asked for."""
    rng = random.Random(0)
    every = [(path, new) for path in paths_in(value) for new in (..., *WRONG)]
    for path, new in rng.sample(every, min(count, len(every))):
        yield json.dumps(changed(value, path, new)).encode()
    text = json.dumps(value).encode()
    for share in (0.1, 0.5, 0.9, 0.999):
        yield text[: int(share * len(text))]
    yield from BYTES.values()


def assert_sentences(variants: Iterator[bytes], path: Path, read: Callable[[Path], Any]) -> int:
    """Read every variant; none may raise anything but a sentence. Return how many were refused."""
    refused = 0
    for content in variants:
        path.write_bytes(content)
        said = sentence_of(read, path)
        if said is not None:
            refused += 1
            assert said.startswith("Expected"), (said, content[:300])
    assert not Path("exploded").exists()
    return refused


def sentence_of(read: Callable[[Path], Any], path: Path) -> str | None:
    """Return the error that reading a file ends with, None if it ends well."""
    TRIED["files"] += 1
    try:
        read(path)
    except EigsearchError as error:
        return str(error)
    except Exception as error:
        return f"raw {error!r}"
    return None


def assert_refused(read: Callable[[Path], Any], path: Path) -> None:
    said = sentence_of(read, path)
    assert (said or "").startswith("Expected"), said


@pytest.fixture(autouse=True)
def counted(record_property: Callable[[str, object], None]) -> Iterator[None]:
    """Record how many files a test read."""
    TRIED.clear()
    yield
    record_property("cases", TRIED["files"])


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def use(explanation: SubgraphExplanation) -> None:
    """Use every part of an explanation that was read."""
    explanation.summary()
    explanation.sentence()
    explanation.to_dict()
    repr(explanation)
    assert explanation.edge_mask.shape == explanation.edge_score.shape
    assert explanation.node_mask.shape == (explanation.data.num_nodes,)
    explanation.at(0)


def test_load_malformed_explanation_raises_a_sentence(here: Path) -> None:
    """160 wrong entries of a graph's and a node's explanation, and what is no JSON."""
    values = explain(Small(), GRAPHS[0], search="refine").to_dict()
    variants = json_variants(values, 160)
    refused = assert_sentences(
        variants, here / "e.json", lambda path: use(SubgraphExplanation.load(path))
    )
    assert refused > 80  # the others are about values that anything fits, such as the options


def test_read_malformed_manifest_raises_a_sentence(out: Path) -> None:
    values = json.loads((out / "manifest.json").read_text())
    refused = assert_sentences(
        json_variants(values, 150),
        out / "manifest.json",
        lambda path: list(store.read(path.parent)),
    )
    assert refused > 120


def test_manifests_with_a_key_that_fits(out: Path) -> None:
    """Whoever writes the key too gets no further than a wrong value."""
    values = json.loads((out / "manifest.json").read_text())
    del values["key"]

    def signed() -> Iterator[bytes]:
        for content in json_variants(values, 10_000):  # all of them
            with suppress(ValueError, TypeError, AttributeError, RecursionError, KeyError):
                yield json.dumps({**json.loads(content), "key": _key(content)}).encode()

    def show(path: Path) -> None:
        result = CliRunner().invoke(app, ["view", str(path.parent)])
        if result.exit_code not in (0, 2):
            raise RuntimeError(repr(result.exception))

    assert_sentences(signed(), out / "manifest.json", show)


def _key(content: bytes) -> str:
    return store.Manifest(**json.loads(content)).key


def wrong_entries(value: Any) -> Iterator[Any]:
    """Yield values of the type of a cell that do not fit the others of its row."""
    yield None
    if isinstance(value, list):
        yield from ([], value[:1], value * 2)
        if value and isinstance(value[0], int | float) and not isinstance(value[0], bool):
            kind = type(value[0])
            yield from ([kind(number)] * len(value) for number in (-1, 2**31 - 1))
    elif isinstance(value, float):
        yield from (float("nan"), float("inf"), -1e308)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield from (-1, 2**31 - 1)


def wrong_texts(name: str) -> Iterator[Any]:
    """Yield texts and links for columns that are empty in rows of graphs."""
    if name in ("node_type", "types", "smiles", "name", "error", "note"):
        yield from ("", "\x00\x1b[2J", "[" * 5_000, "{}", '{"nodes": {}, "edges": []}')
    elif name in ("link", "link_types"):
        ends: list[Any] = [0, 1, 2] if name == "link" else ["a", "b", "c"]
        yield from (ends[:count] for count in range(4))


def test_rows_with_checksums_that_fit(out: Path, finished: Path) -> None:
    """Whoever writes the checksums too gets no further than a wrong value."""
    content = (finished / "rows" / "000000.parquet").read_bytes()
    schema = pq.read_schema(pa.BufferReader(content))
    first, *others = parquet_to_rows(content)
    refused = 0
    for name in first:
        for wrong in (*wrong_entries(first[name]), *wrong_texts(name)):
            table = pa.Table.from_pylist([{**first, name: wrong}, *others], schema)
            plant_rows(out, table)
            said = sentence_of(show_page, out)
            refused += said is not None
            assert said is None or said.startswith("Error: Expected"), (name, wrong, said)
    assert refused > 60  # the others are about figures that the rest of the row gives too


def plant_rows(out: Path, table: pa.Table) -> None:
    """Write other rows as the first shard, with checksums that fit."""
    pq.write_table(table, out / "rows" / "000000.parquet")
    names = {"rows": "parquet", "jsonl": "jsonl", "times": "parquet"}
    files = {f: (out / f / f"000000.{suffix}").read_bytes() for f, suffix in names.items()}
    key = store.read_manifest(out / "manifest.json").key
    (out / "checksums" / "000000.json").write_bytes(checksums_of(key, 0, files).to_json())


def show_page(out: Path) -> None:
    """Print the rows of a directory, and write its page."""
    result = CliRunner().invoke(app, ["view", str(out), "--out", "page.html"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if result.exit_code:
        raise EigsearchError(result.stderr.strip())


def test_a_manifest_that_is_a_pipe_is_not_waited_for(out: Path) -> None:
    (out / "manifest.json").unlink()
    os.mkfifo(out / "manifest.json")
    assert_refused(lambda path: list(store.read(path)), out)


def test_rows_malformed_checksums_raise_a_sentence(out: Path) -> None:
    path = out / "checksums" / "000000.json"
    values = json.loads(path.read_text())
    refused = assert_sentences(
        json_variants(values, 60), path, lambda path: list(store.rows(path.parent.parent))
    )
    assert refused == 60 + 4 + len(BYTES) - unharmed(values)


def unharmed(values: dict) -> int:
    """How many of the variants say the same about the rows as before."""
    rng = random.Random(0)
    every = [(path, new) for path in paths_in(values) for new in (..., *WRONG)]
    chosen = rng.sample(every, min(60, len(every)))
    return sum(path in (("files", "jsonl"), ("files", "times")) for path, _ in chosen)


PLAN = """
description = "a plan"

[[section]]
name = "chance"
settings = ["BA-2Motifs/gin"]
explainers = ["random", "degree"]
searches = ["sweep"]
sparsities = [0.5, 0.7]
seeds = [0, 1]
sample = 2
kind = "explain"
max_groups = 20
robust_samples = 0
pictures = 1

[explainer.random]
sample = 1
seeds = 1
fit_sample = 10
options = { seed = 3 }
"""
TOML = ("'text'", "-1", "2.5", "true", "[]", "{}", "[[]]", "['a']", "[1, 'a']", "nan", "1979-05-27")


def plan_variants() -> Iterator[bytes]:
    """Yield the plan with wrong values, without single lines, cut short, and what is no TOML."""
    lines = PLAN.splitlines()
    for number, line in enumerate(lines):
        name, equals, _ = line.partition(" = ")
        for wrong in TOML if equals else ():
            yield "\n".join([*lines[:number], f"{name} = {wrong}", *lines[number + 1 :]]).encode()
        yield "\n".join(lines[:number] + lines[number + 1 :]).encode()
    for text in ("section = 1", "section = [1]", "explainer = 1", "explainer = {random = 1}"):
        yield text.encode()
    yield from (PLAN.encode()[:cut] for cut in range(20, len(PLAN), 60))
    yield from BYTES.values()


def test_read_plan_malformed_file_raises_a_sentence(here: Path) -> None:
    refused = assert_sentences(
        plan_variants(), here / "p.toml", lambda path: read_plan(path).runs()
    )
    assert refused > 120


def test_load_model_malformed_card_raises_a_sentence(here: Path) -> None:
    path = save_model(*zoo.load("BA-2Motifs", "gin"), here)
    values = json.loads(path.with_suffix(".json").read_text())
    refused = assert_sentences(
        json_variants(values, 120), path.with_suffix(".json"), lambda _: load_model(path)
    )
    assert refused > 30  # the others are about figures that nothing is computed from


def test_load_model_damaged_weights_raise_a_sentence(here: Path) -> None:
    path = save_model(*zoo.load("BA-2Motifs", "gin"), here)
    refused = assert_sentences(cuts_and_flips(path.read_bytes()), path, load_model)
    assert refused > 20


def cuts_and_flips(content: bytes, flips: int = 40) -> Iterator[bytes]:
    """Yield a binary file cut short, with bytes changed in its first part, and others instead."""
    rng = random.Random(0)
    for share in (0.01, 0.1, 0.5, 0.9):
        yield content[: int(share * len(content))]
    for _ in range(flips):
        copied = bytearray(content)
        copied[rng.randrange(min(400, len(copied)))] = rng.randrange(256)
        yield bytes(copied)
    yield from BYTES.values()


@pytest.mark.parametrize("suffix", ["safetensors", "pt"])
def test_load_file_damaged_graphs_raise_a_sentence(here: Path, suffix: str) -> None:
    path = here / f"graphs.{suffix}"
    datasets.save_file(GRAPHS[:2], path)
    read = datasets.load_file
    assert assert_sentences(cuts_and_flips(path.read_bytes()), path, read) > 15


class Bomb:
    def __reduce__(self) -> tuple:
        return os.mkdir, ("exploded",)


def test_graphs_that_are_no_graphs(here: Path) -> None:
    long, graph = torch.long, GRAPHS[0]
    contents: list[Any] = [1, [1], {}, [], [None], Bomb(), [Bomb()], {"a": Bomb()}, graph.x]
    for edges in (None, 1, graph.x, torch.zeros(3, 2, dtype=long), torch.full((2, 2), 99)):
        wrong = graph.clone()
        wrong.edge_index = edges
        contents.append([wrong])
    for content in contents:
        torch.save(content, here / "g.pt")
        assert_refused(datasets.load_file, here / "g.pt")
    for tensors in ({"x": graph.x}, {"edge_index": graph.x}, {"_evil": graph.x}):
        save_tensors(tensors, here / "g.safetensors")
        assert_refused(datasets.load_file, here / "g.safetensors")
    assert not Path("exploded").exists()


def test_explain_malformed_table_of_molecules_is_refused(here: Path) -> None:
    tables: list[dict] = [{"a": [1]}, {"smiles": [1, 2]}, {"smiles": [[1]]}, {"smiles": [None]}]
    tables += [{"smiles": pa.array([], pa.string())}, {"smiles": ["not a molecule"]}]
    for table in tables:
        pq.write_table(pa.table(table), here / "m.parquet")
        model = "tests.parallel.networks:Small"
        command = ["explain", "--data", "m.parquet", "--model", model, "--out", "out"]
        result = CliRunner().invoke(app, command)
        TRIED["files"] += 1
        assert result.exit_code == 2, result.output
        assert result.stderr.splitlines()[-1].startswith("Error: Expected"), result.stderr
