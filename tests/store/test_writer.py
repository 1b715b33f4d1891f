"""Shards that are written in the background are all there at the end, or the reason is."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from eigsearch.errors import InputError
from eigsearch.store import ResultDirectory, ShardFiles, Writer
from tests.store.test_directory import MANIFEST, shard


@pytest.fixture
def claimed(tmp_path: Path):
    directory = ResultDirectory(tmp_path / "results")
    with directory.claimed(MANIFEST):
        yield directory


def write(directory: ResultDirectory, count: int, stop: BaseException | None = None) -> None:
    with Writer(directory) as writer:
        for number in range(count):
            writer.write(shard(number))
        if stop:
            raise stop


def test_all_shards_are_there_at_the_end(claimed: ResultDirectory) -> None:
    write(claimed, 30)
    assert list(claimed.row_files()) == list(range(30))


@pytest.mark.parametrize("bad", [0, 29])
def test_a_shard_that_cannot_be_written_stops_the_run(claimed: ResultDirectory, bad: int) -> None:
    sound = claimed.write

    def fail(each: ShardFiles) -> None:
        if each.number == bad:
            raise InputError("Expected room (got none). Free some.")
        sound(each)

    claimed.write = fail  # type: ignore[method-assign, assignment]
    with pytest.raises(InputError, match="Expected room"):
        write(claimed, 30)


def test_what_is_on_its_way_is_written_when_the_run_is_stopped(claimed: ResultDirectory) -> None:
    with pytest.raises(KeyboardInterrupt):
        write(claimed, 1, stop=KeyboardInterrupt())
    assert list(claimed.row_files()) == [0]


def test_a_slow_disk_makes_whoever_brings_more_wait(claimed: ResultDirectory) -> None:
    free, brought = threading.Event(), []
    claimed.write = lambda each: free.wait(600)  # type: ignore[method-assign, assignment]

    def bring(writer: Writer) -> None:
        for number in range(20):
            writer.write(shard(number))
            brought.append(number)

    with Writer(claimed) as writer:
        bringing = threading.Thread(target=bring, args=(writer,))
        bringing.start()
        bringing.join(0.5)
        waits = bringing.is_alive() and len(brought) < 10
        free.set()  # before any assertion, or the end of the context would wait for it
        bringing.join(600)
        assert not bringing.is_alive()
    assert waits
    assert len(brought) == 20
