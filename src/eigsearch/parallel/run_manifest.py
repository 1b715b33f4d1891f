"""Make the manifest of a run from everything that its rows depend on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from eigsearch._utils.fingerprint import digest_of, held_digest, model_digests
from eigsearch.parallel.sharding import Plan
from eigsearch.parallel.sources import Source
from eigsearch.parallel.sources.files import FilesSource
from eigsearch.parallel.worker import ExplainJob
from eigsearch.store import Manifest

_FILES = 256  # the most files whose digests are kept one by one, to say which has changed
RANKER = "config.ranker"  # the one entry that training a ranker changes


def manifest_of(
    job: ExplainJob,
    source: Source,
    plan: Plan,
    about: Mapping[str, Any],
    names: Mapping[str, Any],
) -> Manifest:
    """Return the manifest of a run, with the ranker as it is now."""
    config = {
        "data": source.digest,
        "items": _describe_selection(plan.items),
        "kind": "graphs" if plan.source is not None else f"{plan.subject}s",
        "model": model_digests(job.model),
        "seed": job.seed,
        "target": plan.targets
        if isinstance(plan.targets, int | None)
        else _describe_selection(plan.targets),
        **_describe_options(job),
        **about,
    }
    if isinstance(source, FilesSource) and 1 < len(source.names) <= _FILES:
        config["data_files"] = source.file_digests
    if job.device is not None:
        config["device"] = job.device
    return Manifest(config, len(plan.items), plan.shard_size, dict(names))


def _describe_options(job: ExplainJob) -> dict[str, Any]:
    """Return the options as JSON values, with hashes of their hidden state."""
    options = job.options
    described = {k: v for k, v in job.describe().items() if k != "versions"}
    if isinstance(options.groups, Tensor):
        described["groups"] = digest_of([{"groups": options.groups}])
    elif isinstance(options.groups, Mapping):
        parts = {str(kind): part for kind, part in options.groups.items()}
        described["groups"] = digest_of([parts])
    held = {name: held_digest(getattr(options, name)) for name in ("forward", "ranker", "search")}
    return {
        "options": described,
        **{name: value for name, value in held.items() if value is not None},
    }


def _describe_selection(values: Sequence[Any]) -> str:
    """Return a selection as a short text."""
    if isinstance(values, range):
        return f"{values.start}:{values.stop}:{values.step}"
    return f"{len(values)} chosen, {digest_of([{'values': list(values)}])}"
