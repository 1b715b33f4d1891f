"""A results directory that was damaged is noticed by whoever reads it or goes on with it."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from eigsearch import store
from eigsearch.errors import InputError
from eigsearch.store import layout
from tests.faults.conftest import SHARDS, files_of, run_again

FLIPS = 400
NUMBERED = [f"{folder}/000001.{suffix}" for folder, suffix in layout.FOLDERS.items()]


def read_everything(out: Path) -> None:
    """Read a directory in every way that there is."""
    list(store.rows(out))
    list(store.read(out))
    store.summarize(out)


def assert_refused(out: Path) -> None:
    with pytest.raises(InputError, match="Expected"):
        read_everything(out)
    with pytest.raises(InputError, match="Expected"):
        run_again(out)


def assert_repaired(out: Path, finished: Path, command: Callable) -> None:
    """`check` finds the damage, `--repair` and the same run mend it, byte for byte."""
    assert command("check", out).exit_code == 1
    assert command("check", out, "--repair").exit_code == 1
    run_again(out)
    assert command("check", out).exit_code == 0
    assert files_of(out) == files_of(finished)


@pytest.mark.parametrize("folder", ["rows", "times"])
def test_reading_after_a_flipped_bit_raises(
    out: Path, folder: str, record_property: Callable[[str, object], None]
) -> None:
    """Each of 400 single-bit flips of a file is noticed."""
    record_property("cases", FLIPS)
    file = next((out / folder).glob("000002.*"))
    content, rng = file.read_bytes(), random.Random(0)
    for bit in rng.sample(range(8 * len(content)), FLIPS):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        file.write_bytes(flipped)
        with pytest.raises(InputError, match="other bytes than its run wrote"):
            store.summarize(out)


def test_check_of_an_intact_directory_says_so(out: Path, command: Callable) -> None:
    result = command("check", out)
    assert result.exit_code == 0
    assert f"{SHARDS} of {SHARDS} shards, no damaged file." in result.stdout
    read_everything(out)
    assert run_again(out).before == 8


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
@pytest.mark.parametrize("name", NUMBERED)
def test_a_truncated_file_is_found_and_repaired(
    out: Path, finished: Path, command: Callable, name: str, share: float
) -> None:
    content = (out / name).read_bytes()
    (out / name).write_bytes(content[: int(share * len(content))])
    with pytest.raises(InputError, match=r"`eigsearch check .*out --repair`"):
        run_again(out)
    assert_repaired(out, finished, command)


@pytest.mark.parametrize("name", NUMBERED)
def test_a_file_whose_bits_flipped_is_found_and_repaired(
    out: Path, finished: Path, command: Callable, name: str
) -> None:
    content = bytearray((out / name).read_bytes())
    content[len(content) // 3] ^= 4
    (out / name).write_bytes(content)
    assert_repaired(out, finished, command)


@pytest.mark.parametrize("name", [name for name in NUMBERED if not name.startswith("rows")])
def test_a_file_that_is_gone_is_found_and_repaired(
    out: Path, finished: Path, command: Callable, name: str
) -> None:
    (out / name).unlink()
    assert_repaired(out, finished, command)


def test_a_shard_whose_rows_are_gone_is_computed_again(out: Path, finished: Path) -> None:
    (out / "rows" / "000001.parquet").unlink()
    assert run_again(out).before == 6
    assert files_of(out) == files_of(finished)


def copy_shard(source: Path, number: int, target: Path, new_number: int) -> None:
    """Copy all files of a shard, its checksums included."""
    for folder, suffix in layout.FOLDERS.items():
        copied = target / folder / f"{new_number:06d}.{suffix}"
        shutil.copy(source / folder / f"{number:06d}.{suffix}", copied)


@pytest.mark.parametrize(("number", "new_number"), [(0, 1), (3, 0), (0, 4), (2, 1_000_000)])
def test_a_copy_of_a_shard_under_another_number_is_refused(
    out: Path, finished: Path, command: Callable, number: int, new_number: int
) -> None:
    copy_shard(out, number, out, new_number)
    assert_refused(out)
    assert_repaired(out, finished, command)


def test_a_shard_of_another_run_is_refused(
    out: Path, finished: Path, command: Callable, tmp_path: Path
) -> None:
    run_again(tmp_path / "other", seed=1)
    copy_shard(tmp_path / "other", 2, out, 2)
    with pytest.raises(InputError, match="a shard of another run"):
        list(store.rows(out))
    assert_refused(out)
    assert_repaired(out, finished, command)


@pytest.mark.parametrize(
    "name", ["0 copy.parquet", "00000.parquet", "rows.parquet", "٣٣٣٣٣٣.parquet"]
)
def test_a_file_of_rows_that_no_run_wrote_is_refused_and_left_alone(
    out: Path, command: Callable, name: str
) -> None:
    shutil.copy(out / "rows" / "000000.parquet", out / "rows" / name)
    assert_refused(out)
    assert command("check", out, "--repair").exit_code == 1
    assert (out / "rows" / name).exists()
    (out / "rows" / name).unlink()
    read_everything(out)


@pytest.mark.parametrize(
    "change",
    [{"rows": 7}, {"shard_size": 3}, {"schema": 1}, {"key": "0" * 64}, {"versions": {}}],
)
def test_a_changed_manifest_is_refused(out: Path, change: dict) -> None:
    values = json.loads((out / "manifest.json").read_text())
    (out / "manifest.json").write_text(json.dumps(values | change))
    assert_refused(out)


def test_a_changed_option_in_the_manifest_is_refused(out: Path) -> None:
    text = (out / "manifest.json").read_text()
    (out / "manifest.json").write_text(text.replace('"sparsity": 0.5', '"sparsity": 0.7'))
    assert_refused(out)


def test_names_in_the_manifest_may_be_changed(out: Path) -> None:
    values = json.loads((out / "manifest.json").read_text())
    values["names"]["class_names"] = ["tree", "house"]
    (out / "manifest.json").write_text(json.dumps(values))
    read_everything(out)


def test_check_prints_json_for_machines(out: Path, command: Callable) -> None:
    (out / "jsonl" / "000003.jsonl").write_text("")
    found = json.loads(command("check", out, "--json").stdout)
    assert [Path(damage["path"]).name for damage in found["damaged"]] == ["000003.jsonl"]
    assert (found["shards"], found["finished"], found["removed"]) == (4, 4, [])
