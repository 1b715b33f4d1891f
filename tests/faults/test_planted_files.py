"""What a stranger planted beside the data, or in the output, runs no code and leads nowhere."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from eigsearch import datasets, store
from eigsearch.bench.plan import parse_plan
from eigsearch.bench.rows.results import Results
from eigsearch.bench.run.executor import run_plan
from eigsearch.errors import InputError
from eigsearch.models import save_model, zoo
from tests.faults.conftest import files_of, run_again


class Bomb:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return os.mkdir, (str(self.path),)


@pytest.fixture
def raw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data root with the raw files of two molecules, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "root" / "MUTAG" / "raw"
    folder.mkdir(parents=True)
    files = {"A": "1, 2\n2, 1\n3, 4\n4, 3\n", "graph_indicator": "1\n1\n2\n2\n"}
    files |= {"graph_labels": "1\n-1\n", "node_labels": "0\n1\n2\n6\n", "edge_labels": "0\n" * 4}
    for name, text in files.items():
        (folder / f"MUTAG_{name}.txt").write_text(text)
    return tmp_path / "root"


def test_molecules_with_a_planted_cache_run_no_code(raw: Path, tmp_path: Path) -> None:
    """PyG would unpickle `processed/data.pt`, wherever in the cache it lay."""
    first = datasets.load("MUTAG", root=raw)
    for folder in list((tmp_path / "cache").rglob("*")):
        if folder.is_dir():
            (folder / "processed").mkdir(exist_ok=True)
            for name in ("data.pt", "pre_transform.pt", "pre_filter.pt"):
                torch.save(Bomb(tmp_path / "exploded"), folder / "processed" / name)
    again = datasets.load("MUTAG", root=raw)
    assert not (tmp_path / "exploded").exists()
    assert again.digest == first.digest


@pytest.mark.parametrize("content", [b"", b"anything", b"PK\x03\x04"])
def test_molecules_with_a_damaged_cache_are_made_again(
    raw: Path, tmp_path: Path, content: bytes
) -> None:
    first = datasets.load("MUTAG", root=raw)
    (cached,) = (tmp_path / "cache").rglob("graphs.safetensors")
    cached.write_bytes(content)
    assert datasets.load("MUTAG", root=raw).digest == first.digest


WORKERS = """
import eigsearch
from eigsearch.datasets import generate
from eigsearch.models import zoo
if __name__ == "__main__":
    model, _ = zoo.load("BA-2Motifs", "gin")
    found = eigsearch.explain_dataset(model, generate("BA-2Motifs").graphs[:2], workers=2)
    print(len(list(found)))
"""


def test_workers_import_nothing_from_the_current_directory(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    for name in ("torch_geometric", "torch", "eigsearch", "numpy"):
        (here / f"{name}.py").write_text(f"open('exploded-{name}', 'w')\n")
    (tmp_path / "script.py").write_text(WORKERS)
    result = subprocess.run(
        [sys.executable, str(tmp_path / "script.py")],
        cwd=here,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert result.stdout == "2\n", result.stderr
    assert not list(here.glob("exploded-*"))


def test_a_linked_lock_is_refused_and_its_target_stays(out: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    (out / ".lock").unlink(missing_ok=True)
    (out / ".lock").symlink_to(tmp_path / "thesis.tex")
    with pytest.raises(InputError, match=r"\.lock to be a file"):
        run_again(out)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


@pytest.mark.parametrize("folder", ["rows", "jsonl", "times", "checksums"])
def test_a_linked_file_of_a_shard_is_replaced_and_its_target_stays(
    out: Path, finished: Path, tmp_path: Path, folder: str
) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    (out / "rows" / "000001.parquet").unlink()
    linked = next(finished.glob(f"{folder}/000001.*"))
    (out / folder / linked.name).unlink(missing_ok=True)
    (out / folder / linked.name).symlink_to(tmp_path / "thesis.tex")
    if folder == "rows":  # a shard that is there, and not as its run wrote it
        store.ResultDirectory(out).repair()
    run_again(out)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"
    assert files_of(out) == files_of(finished)


@pytest.mark.parametrize("folder", ["rows", "jsonl", "times", "checksums"])
def test_a_linked_folder_is_refused(out: Path, tmp_path: Path, folder: str) -> None:
    (out / folder).rename(tmp_path / "elsewhere")
    (out / folder).symlink_to(tmp_path / "elsewhere")
    before = sorted((tmp_path / "elsewhere").iterdir())
    with pytest.raises(InputError, match="stay inside the output directory"):
        run_again(out)
    assert sorted((tmp_path / "elsewhere").iterdir()) == before


@pytest.mark.parametrize("name", ["../escaped", "/tmp/escaped", "a/b", ".."])
def test_a_model_of_a_data_set_with_a_path_for_a_name_stays_inside(
    tmp_path: Path, name: str
) -> None:
    model, card = zoo.load("BA-2Motifs", "gin")
    with pytest.raises(InputError, match="usable as a file name"):
        save_model(model, replace(card, dataset=f"{name}/x"), tmp_path / "models")
    assert list(tmp_path.iterdir()) == []


def test_a_second_bench_leaves_the_files_of_the_first_alone(tmp_path: Path) -> None:
    text = (
        '[[section]]\nname = "chance"\nsettings = ["BA-2Motifs/gin"]\n'
        'explainers = ["random", "degree"]\nsample = 1\n'
    )
    plan, results = parse_plan(text, "mine"), Results(tmp_path)
    first = run_plan(plan, tmp_path)
    next(first)
    (results.folder / ".half.parquet.tmp").write_bytes(b"half")
    with pytest.raises(InputError, match="one run at a time"):
        next(run_plan(plan, tmp_path))
    assert (results.folder / ".half.parquet.tmp").exists()
    assert len(list(first)) == 1
