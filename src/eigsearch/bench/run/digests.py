"""Digests of what a run depends on besides its plan: weights, data, code."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from eigsearch import explainers, ranking, search
from eigsearch._utils.fingerprint import digest_of
from eigsearch._utils.importing import is_import_name
from eigsearch.bench.run.own_parts import own_code_digest, own_dataset_digest, own_network_digest
from eigsearch.bench.run.setting import load_dataset
from eigsearch.bench.run.source_digest import imported_files, source_digest
from eigsearch.explainers.registry import method_class
from eigsearch.models import zoo
from eigsearch.models.published_networks import weights_path
from eigsearch.search.registry import SEARCHES

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
        return ABSENT  # the run fails for the same reason and records it in a row
    return digest_of(graph.to_dict() for graph in graphs)


@cache
def explainer_digest(name: str) -> str:
    """Return the SHA-256 of the code of an explainer, so that rows do not outlive it.

    It is the code of all modules of the package `explainers` that an explainer imports, directly or
    not, without docstrings, comments and the texts of cards.
    """
    if is_import_name(name):
        return own_code_digest(name)
    return source_digest(explainer_files(name))


def explainer_files(name: str) -> list[Path]:
    """Return the modules that an explainer is made of."""
    return imported_files(method_class(name).__module__, explainers.__name__)


@cache
def search_digest(names: tuple[str, ...]) -> str:
    """Return the SHA-256 of the code of some searches, and of how rankings are made.

    Of the package `search` those modules count that a search imports, directly or not: an edit of
    one search leaves the rows of the others alone.
    """
    return source_digest(search_files(names))


def search_files(names: Iterable[str]) -> list[Path]:
    """Return the modules that searches are made of, and those of rankings."""
    of_searches = {
        file
        for name in names
        for file in imported_files(SEARCHES[name].__module__, search.__name__)
    }
    return [*sorted(of_searches), *sorted(Path(ranking.__path__[0]).glob("*.py"))]
