"""Process pickled shards of a pickled job, in a worker process or a Ray actor."""

from __future__ import annotations

import gc
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from eigsearch.errors import EigsearchError
from eigsearch.parallel.pickling import pack, unpack


@dataclass(frozen=True)
class _Failed:
    """An error that concerns the run, not a row."""

    message: str
    expected: bool


class PackedWorker:
    """Processes packed shards of a packed job, which it opens once, on one thread."""

    def __init__(self, packed_job: bytes) -> None:
        import torch

        torch.set_num_threads(1)
        self._packed_job = packed_job
        self._process: Callable[[Any], Any] | None = None

    def __call__(self, packed_shard: bytes) -> bytes:
        """Return the packed result of a shard, or the packed error that stopped it."""
        try:
            if self._process is None:
                self._process = unpack(self._packed_job).open()
                gc.freeze()  # what is loaded stays for the life of the process
            return pack(self._process(unpack(packed_shard)))
        except EigsearchError as error:
            return pack(_Failed(str(error), expected=True))
        except Exception:
            return pack(_Failed(traceback.format_exc(), expected=False))


def result_of(packed: bytes) -> Any:
    """Return the result that a `PackedWorker` packed; raise the error that stopped it."""
    result = unpack(packed)
    if isinstance(result, _Failed):
        raise (EigsearchError if result.expected else RuntimeError)(result.message)
    return result
