"""What a run depends on besides its plan, as digests: weights, data, code."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from eigsearch import ranking, search
from eigsearch._utils.fingerprint import digest_of
from eigsearch._utils.importing import is_import_name
from eigsearch.bench.run.own_parts import own_code_digest, own_dataset_digest, own_network_digest
from eigsearch.bench.run.setting import load_dataset
from eigsearch.explainers.registry import method_class
from eigsearch.models import zoo
from eigsearch.models.published_networks import weights_path

ABSENT = "absent"  # once the data are there the digest is another, and the run is done again


@cache
def weights_digest(dataset: str, model: str, directory: str | None = None, replica: int = 0) -> str:
    """Return the SHA-256 of the file of a network: of the zoo, or of a directory of the paper's."""
    if is_import_name(model):
        return own_network_digest(model, dataset)
    if directory is not None:
        path = weights_path(directory, dataset, model)
    else:
        path = zoo.weights_path(dataset, model, replica)
    return hashlib.sha256(path.read_bytes()).hexdigest()


@cache
def data_digest(dataset: str) -> str:
    """Return the SHA-256 of the graphs of a data set, or `ABSENT` where it cannot be loaded."""
    try:
        if is_import_name(dataset):
            return own_dataset_digest(dataset)
        graphs = load_dataset(dataset).graphs
    except Exception:
        return ABSENT  # the run itself fails for the same reason, which becomes a row
    return digest_of(graph.to_dict() for graph in graphs)


@cache
def explainer_digest(name: str) -> str:
    """Return the SHA-256 of the source of an explainer, so that rows do not outlive its code.

    An explainer is a module or, if it is made of several, the folder that it is alone in.
    """
    if is_import_name(name):
        return own_code_digest(name)
    method = method_class(name)
    file = Path(inspect.getfile(method))
    alone = method.__module__.split(".")[:-3] == ["eigsearch", "explainers"]
    files = sorted(file.parent.glob("*.py")) if alone else [file]
    return _digest_of_files(files)


@cache
def search_digest() -> str:
    """Return the SHA-256 of the source of all searches and of how rankings are made."""
    return _digest_of_files(
        file
        for package in (search, ranking)
        for file in sorted(Path(package.__path__[0]).rglob("*.py"))
    )


def _digest_of_files(files: Iterable[Path]) -> str:
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
