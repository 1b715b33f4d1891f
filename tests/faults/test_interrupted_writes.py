"""Whatever stops a run at whichever write, the same run ends with the same rows."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from eigsearch import store
from eigsearch._utils.atomic_files import write_atomic
from eigsearch.errors import EigsearchError, InputError
from eigsearch.store import Manifest, ResultDirectory, ShardFiles, read_manifest
from tests.faults.conftest import SHARDS, files_of

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="This system does not fork.")

Fault = Callable[[], None]
_PATIENCE = 300  # seconds until a child that hangs is ended
_DONE, _SAID, _UNHARMED = 0, 3, 4  # exit codes: with a fault it noticed, an error, no fault


def load_shards(finished: Path) -> list[ShardFiles]:
    """The shards of a finished run, as its workers gave them."""
    names = {"rows": "parquet", "lines": "jsonl", "times": "parquet"}
    folders = {"lines": "jsonl"}
    return [
        ShardFiles(
            number,
            **{
                name: (finished / folders.get(name, name) / f"{number:06d}.{suffix}").read_bytes()
                for name, suffix in names.items()
            },
            count=2,
        )
        for number in range(SHARDS)
    ]


def write_missing(out: Path, manifest: Manifest, shards: list[ShardFiles]) -> None:
    """What a run does with its directory: claim it, and write what is not there."""
    directory = ResultDirectory(out)
    with directory.claimed(manifest):
        done = directory.row_files()
        for shard in shards:
            if shard.number not in done:
                directory.write(shard)


class Tripwire:
    """Lets a fault happen at the n-th call that changes a file or a name, and at all later ones."""

    def __init__(self, at: int, fault: Fault) -> None:
        self.left, self.fault = at, fault
        sys.addaudithook(self._audit)
        write_bytes = Path.write_bytes

        def counted_fsync(descriptor: int) -> None:
            self._count()  # and no more than that: a disk takes its time

        def write_in_halves(path: Path, content: bytes) -> int:
            write_bytes(path, content[: len(content) // 2])
            self._count()
            return write_bytes(path, content)

        os.fsync = counted_fsync  # type: ignore[assignment]
        Path.write_bytes = write_in_halves  # type: ignore[assignment, method-assign]

    def _audit(self, event: str, arguments: tuple) -> None:
        writes = event == "open" and str(arguments[1] or "").strip("rbt") != ""
        if writes or event in ("os.rename", "os.remove", "os.mkdir"):
            self._count()

    def _count(self) -> None:
        self.left -= 1
        if self.left <= 0:
            self.fault()


def run_until(at: int, fault: Fault, run: Callable[[], None]) -> int:
    """Do a run in a process of its own, with a fault at the n-th write; return its exit code."""
    pid = os.fork()
    if pid == 0:
        code = 1
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(_PATIENCE)  # a child of a process with threads may inherit a lock
        try:
            tripwire = Tripwire(at, fault)
            run()
            code = _DONE if tripwire.left <= 0 else _UNHARMED
        except (EigsearchError, OSError):
            code = _SAID
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def failing(number: int) -> Fault:
    def fail() -> None:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.fixture
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk: no machine is switched off here."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


# What happens, how the process ends, and at which writes: every one, or every third.
FAULTS = {
    "killed": (kill, -signal.SIGKILL, 1),
    "full disk": (failing(errno.ENOSPC), _SAID, 3),
    "read-only disk": (failing(errno.EROFS), _SAID, 3),
    "broken disk": (failing(errno.EIO), _SAID, 3),
}
_WRITTEN = 2  # shards: more of them only repeat the same calls


def is_written(name: str) -> bool:
    """Whether a file belongs to the shards that are written here."""
    return name == "manifest.json" or int(Path(name).stem) < _WRITTEN


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.usefixtures("quick_disk")
def test_a_fault_at_every_write_loses_and_doubles_no_row(
    finished: Path, tmp_path: Path, name: str, record_property: Callable[[str, object], None]
) -> None:
    fault, code, step = FAULTS[name]
    manifest, shards = read_manifest(finished / "manifest.json"), load_shards(finished)[:_WRITTEN]
    whole = [row["index"] for row in store.rows(finished)][: 2 * _WRITTEN]
    expected = {name: content for name, content in files_of(finished).items() if is_written(name)}
    out, at, codes = tmp_path / "there" / "out", 0, set[int]()
    while _UNHARMED not in codes:
        at += step
        codes.add(run_until(at, fault, lambda: write_missing(out, manifest, shards)))
        if (out / "manifest.json").exists():
            found = [row["index"] for row in store.rows(out)]
            assert found == whole[: len(found)]
        write_missing(out, manifest, shards)
        assert files_of(out) == expected
        assert not list(out.rglob(".*.tmp"))
        assert [path.name for path in tmp_path.iterdir()] == ["there"]
        shutil.rmtree(tmp_path / "there")
    assert codes - {_DONE} == {code, _UNHARMED}
    assert at > 60  # so many calls there are
    record_property("cases", at // step - 1)  # without the last run, which came to its end


def test_a_second_run_is_refused_and_changes_nothing(finished: Path, tmp_path: Path) -> None:
    manifest, shards = read_manifest(finished / "manifest.json"), load_shards(finished)
    out = tmp_path / "out"
    with ResultDirectory(out).claimed(manifest):
        ResultDirectory(out).write(shards[0])
        (out / "rows" / ".000001.parquet.1-ab.tmp").write_bytes(b"half")
        before = sorted(out.rglob("*"))
        for other in (manifest, replace(manifest, config={"seed": 7})):
            code = run_until(10**9, kill, lambda m=other: write_missing(out, m, shards))
            assert code == _SAID
        assert sorted(out.rglob("*")) == before
    write_missing(out, manifest, shards)
    assert files_of(out) == files_of(finished)


def test_a_manifest_that_appears_before_the_lock_is_compared(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that was checked before another one wrote its manifest must not go on in it."""
    manifest, out = read_manifest(finished / "manifest.json"), tmp_path / "out"
    other = replace(manifest, config={**manifest.config, "seed": 7})
    check: Callable = ResultDirectory.check
    calls: list[ResultDirectory] = []

    def check_late(self: ResultDirectory, *arguments: object) -> None:
        check(self, *arguments)
        if not calls:
            calls.append(self)
            write_missing(out, other, [])

    monkeypatch.setattr(ResultDirectory, "check", check_late)
    with pytest.raises(InputError, match="seed was 7, now it is 0"):
        write_missing(out, manifest, load_shards(finished))
    assert store.summarize(out)["rows"] == 0


def test_threads_that_write_one_file_never_tear_it(tmp_path: Path) -> None:
    path, contents = tmp_path / "file", [bytes([number]) * 200_000 for number in range(4)]
    write_atomic(path, contents[0])
    torn, errors = [], []

    def write(content: bytes) -> None:
        try:
            for _ in range(20):
                write_atomic(path, content)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        found = path.read_bytes()
        torn += [found] if found not in contents else []
    assert torn == errors == []
    assert list(tmp_path.iterdir()) == [path]
