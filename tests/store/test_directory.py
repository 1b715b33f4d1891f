"""A results directory holds whole shards of one run, and nothing else gets in or out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eigsearch._utils.atomic_files import path_inside, write_atomic
from eigsearch.errors import InputError
from eigsearch.store import Manifest, ResultDirectory, ShardFiles, read, read_manifest, rows
from eigsearch.store.formats import rows_to_lines, rows_to_parquet, times_to_parquet
from eigsearch.store.rows import RowKey, failed_row

MANIFEST = Manifest(config={"seed": 0, "options": {"sparsity": 0.5}}, rows=4, shard_size=2)


def shard(number: int) -> ShardFiles:
    content = [failed_row(RowKey(2 * number + i), "no reason") for i in range(2)]
    lines, times = rows_to_lines(content), times_to_parquet(content, [0.1, 0.1])
    return ShardFiles(number, rows_to_parquet(content), lines, times, count=2, failures=2)


@pytest.fixture
def filled(tmp_path: Path) -> ResultDirectory:
    directory = ResultDirectory(tmp_path / "results")
    with directory.claimed(MANIFEST):
        directory.write(shard(0))
    return directory


def test_a_shard_is_there_once_its_rows_are(filled: ResultDirectory) -> None:
    assert list(filled.row_files()) == [0]
    assert [row["index"] for row in rows(filled.path)] == [0, 1]
    assert [row["error"] for row in rows(filled.path)] == ["no reason"] * 2
    assert list(read(filled.path)) == []
    lines = (filled.path / "jsonl" / "000000.jsonl").read_text().splitlines()
    assert [json.loads(line)["index"] for line in lines] == [0, 1]
    assert read_manifest(filled.manifest_path) == MANIFEST


def test_the_same_run_goes_on(filled: ResultDirectory) -> None:
    with filled.claimed(MANIFEST):
        filled.write(shard(1))
    assert [row["index"] for row in rows(filled.path)] == [0, 1, 2, 3]


def test_another_run_is_refused_with_the_difference(filled: ResultDirectory) -> None:
    other = replace(MANIFEST, config={"seed": 0, "options": {"sparsity": 0.7}})
    with (
        pytest.raises(InputError, match=r"option sparsity was 0\.5, now it is 0\.7"),
        filled.claimed(other),
    ):
        pass


def test_what_a_killed_process_left_is_swept(filled: ResultDirectory) -> None:
    leftover = filled.path / "rows" / ".000001.parquet.123.tmp"
    leftover.write_bytes(b"half")
    with filled.claimed(MANIFEST):
        assert not leftover.exists()
    assert list(filled.row_files()) == [0]


def test_a_directory_with_other_things_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with (
        pytest.raises(InputError, match=r"thesis\.tex"),
        ResultDirectory(tmp_path).claimed(MANIFEST),
    ):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("")
    with (
        pytest.raises(InputError, match="to be a directory"),
        ResultDirectory(tmp_path / "results").claimed(MANIFEST),
    ):
        pass


def test_one_run_at_a_time(filled: ResultDirectory) -> None:
    twice = pytest.raises(InputError, match="one run at a time")
    with filled.claimed(MANIFEST), twice, filled.claimed(MANIFEST):
        pass


@pytest.mark.parametrize("name", ["../out.html", "/etc/out.html", "rows/../../out.html"])
def test_a_name_does_not_lead_out(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="stay inside the output directory"):
        path_inside(tmp_path, name)


def test_a_link_does_not_lead_out(tmp_path: Path) -> None:
    out = tmp_path / "results"
    out.mkdir()
    (tmp_path / "elsewhere").mkdir()
    (out / "rows").symlink_to(tmp_path / "elsewhere")
    MANIFEST.save(out / "manifest.json")
    with (
        pytest.raises(InputError, match="stay inside the output directory"),
        ResultDirectory(out).claimed(MANIFEST),
    ):
        pass
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_parquet_with_other_columns_is_refused(filled: ResultDirectory) -> None:
    pq.write_table(pa.table({"index": [1]}), filled.path / "rows" / "000001.parquet")
    with pytest.raises(InputError, match="with the columns of eigsearch"):
        list(rows(filled.path))


def test_a_file_that_is_not_parquet_is_refused(filled: ResultDirectory) -> None:
    (filled.path / "rows" / "000001.parquet").write_bytes(b"PAR1 or so it says PAR1")
    with pytest.raises(InputError, match="with the columns of eigsearch"):
        list(read(filled.path))


@pytest.mark.parametrize("content", ["{", "[]", '{"schema": 1}', '{"surprise": 1}'])
def test_a_broken_manifest_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(InputError, match="to be a manifest"):
        list(rows(tmp_path))


def test_a_directory_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="to be a directory of results"):
        list(rows(tmp_path))


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "file"
    write_atomic(path, b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(InputError, match="No space left"):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
