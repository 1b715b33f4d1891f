"""What a run depends on besides its plan, as digests: weights, data, the explainer's code."""

from __future__ import annotations

import hashlib
import inspect
from functools import cache
from pathlib import Path

from eigsearch import datasets
from eigsearch._utils.fingerprint import digest_of
from eigsearch._utils.importing import is_import_name
from eigsearch.bench.run.own_parts import own_code_digest, own_dataset_digest, own_network_digest
from eigsearch.explainers.registry import method_class
from eigsearch.models import zoo
from eigsearch.models.checkpoints import file_stem
from eigsearch.models.published_networks import weights_path

ABSENT = "absent"  # once the data are there the digest is another, and the run is done again


@cache
def weights_digest(dataset: str, model: str, directory: str | None = None) -> str:
    """Return the SHA-256 of the file of a network: of the zoo, or of a directory of the paper's."""
    if is_import_name(model):
        return own_network_digest(model, dataset)
    path = zoo.WEIGHTS / f"{file_stem(dataset, model)}.safetensors"
    if directory is not None:
        path = weights_path(directory, dataset, model)
    return hashlib.sha256(path.read_bytes()).hexdigest()


@cache
def data_digest(dataset: str) -> str:
    """Return the SHA-256 of the graphs of a data set, or `ABSENT` where it cannot be loaded."""
    try:
        if is_import_name(dataset):
            return own_dataset_digest(dataset)
        graphs = datasets.load(dataset).graphs
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
    return hashlib.sha256(b"".join(each.read_bytes() for each in files)).hexdigest()
