"""Find the data and the model of a results directory, where it names them."""

from __future__ import annotations

from typing import Any

from eigsearch import datasets
from eigsearch.app.earlier_rows import EarlierRows
from eigsearch.errors import InputError
from eigsearch.models import zoo
from eigsearch.visualization import Names


def known_dataset(earlier: EarlierRows) -> str:
    """Return the name of the data set that rows are about.

    Raises:
        InputError: If it is none that can be loaded by its name.
    """
    name = str(earlier.manifest.config.get("dataset"))
    if name in datasets.names():
        return name
    raise InputError(
        f"Expected the data beside {earlier.path}, whose rows are about data of your own (got none;"
        f" it is called {name}). Pass what was explained: `dataset`, or --data with its file."
    )


def load_named(earlier: EarlierRows, model: Any, dataset: Any) -> tuple[Any, Any]:
    """Return a model and a data set; those that are None by the names in the results.

    Raises:
        InputError: If one has no name that is known here.
    """
    if dataset is None:
        dataset = datasets.load(known_dataset(earlier))
    if model is not None:
        return model, dataset
    name, about = earlier.manifest.config.get("model_name"), getattr(dataset, "name", None)
    if (about, name) not in zoo.names():
        raise InputError(
            f"Expected the model beside {earlier.path} (got none; it is called "
            f"{name or 'nothing'}, which is no model of the zoo for this data). Pass `model`."
        )
    return zoo.load(str(about), str(name))[0], dataset


def saved_names(earlier: EarlierRows) -> Names:
    """Return the names of classes, nodes and values that were saved with the rows."""
    title = str(earlier.manifest.config.get("dataset", ""))
    return Names.from_lists(title, earlier.manifest.names)
