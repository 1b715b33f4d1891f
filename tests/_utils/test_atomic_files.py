"""Whatever is saved is there whole, or what was there before still is."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from eigsearch import SubgraphExplanation, datasets, explain
from eigsearch._utils.atomic_files import atomic_path, write_atomic
from eigsearch.errors import InputError
from eigsearch.models import save_model, zoo

GRAPH = datasets.generate("BA-2Motifs").graphs[0]
MODEL, CARD = zoo.load("BA-2Motifs", "gin")


@pytest.fixture(scope="module")
def explanation() -> SubgraphExplanation:
    return explain(MODEL, GRAPH)


SAVES: dict[str, Callable[[SubgraphExplanation, Path], object]] = {
    "explanation.json": lambda ex, path: ex.save(path),
    "page.html": lambda ex, path: ex.save(path),
    "picture.svg": lambda ex, path: ex.save(path),
    "graphs.pt": lambda ex, path: datasets.save_file([GRAPH], path),
    "graphs.safetensors": lambda ex, path: datasets.save_file([GRAPH], path),
    "BA-2Motifs-gin.safetensors": lambda ex, path: save_model(MODEL, CARD, path.parent),
    "BA-2Motifs-gin.json": lambda ex, path: CARD.save(path),
}


@pytest.mark.parametrize("name", SAVES)
def test_a_full_disk_leaves_what_was_there(
    name: str, explanation: SubgraphExplanation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_text("before")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(InputError, match="room for"):
            SAVES[name](explanation, path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    SAVES[name](explanation, path)
    assert path.read_bytes() != b"before"


def test_an_error_on_the_way_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("before")
    with suppress(RuntimeError), atomic_path(path) as aside:
        aside.write_text("half")
        raise RuntimeError
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("failing", ["replace", "fsync"])
def test_an_error_names_the_file_and_not_the_hidden_one(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`os.replace` names both files, `os.fsync` none; nobody knows the hidden one."""

    def fail(*names: object) -> None:
        raise OSError(errno.EIO, "Input/output error", *map(str, names[:1] if names[1:] else ()))

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(OSError, match="Input/output error") as caught:
        write_atomic(tmp_path / "page.html", b"")
    assert caught.value.filename == str((tmp_path / "page.html").resolve())
    assert ".tmp" not in str(caught.value)


def test_an_error_about_another_file_keeps_its_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught, atomic_path(tmp_path / "file"):
        (tmp_path / "other").read_bytes()
    assert str(caught.value.filename) == str(tmp_path / "other")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    link.symlink_to(file)
    write_atomic(link, b"new")
    assert link.is_symlink()
    assert file.read_bytes() == b"new"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_atomic(pipe, b"through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert pipe.is_fifo()
