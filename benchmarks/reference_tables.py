"""The tables of the reference, made from signatures and docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

import eigsearch
from eigsearch import (
    Options,
    SubgraphExplanation,
    datasets,
    explainers,
    metrics,
    models,
    parallel,
    store,
    visualization,
)
from eigsearch.models import zoo
from eigsearch.search import SEARCHES, Curve

PAGE = Path(__file__).parents[1] / "docs" / "reference.md"
ExplicitMasks = list[list[str]]

_OPTIONS = {field.name for field in fields(Options)}
_RETURNED = {  # classes that users get, and never make
    *(SubgraphExplanation, metrics.Fidelity, metrics.RobustFidelity, metrics.Subgraph),
    *(datasets.DatasetInfo, models.Card),
}
_AROUND = {
    parallel: ("explain_to", "explain_many"),
    store: ("read", "rows", "summarize"),
    visualization: ("save_explanation", "save_gallery", "save_comparison", "plot", "plot_curve"),
}
_SECTION = re.compile(r"^Attributes:\n((?:    .*\n?)+)", re.MULTILINE)
_ATTRIBUTE = re.compile(r"^    (\w+): ((?:.|\n        )*)", re.MULTILINE)


def _table(header: list[str], rows: Iterable[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    cells = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def _first(thing: Any) -> str:
    """Return the first sentence of a docstring."""
    text = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
    return re.split(r"(?<=[^.]\.) (?=[A-Z])", text)[0]


def _call(name: str, thing: Any) -> str:
    """Return how something is called; the options that the verbs share are one word."""
    if thing in _RETURNED:
        return f"`{name}`"
    own = [p for p in inspect.signature(thing).parameters.values() if p.name != "self"]
    options = {p.name for p in own} & _OPTIONS
    shared = len(options) > len(_OPTIONS) / 2
    own = [p for p in own if not (shared and p.name in options)]
    shown = [str(p.replace(annotation=p.empty)) for p in own]
    first = next((i for i, p in enumerate(own) if p.kind is p.KEYWORD_ONLY), None)
    if first is not None:
        shown.insert(first, "*")
    return f"`{name}({', '.join([*shown, '**options'] if shared else shown)})`"


def _attributes(thing: type) -> ExplicitMasks:
    """Return the attributes that the docstring of a class has, with their words."""
    section = _SECTION.search(inspect.cleandoc(thing.__doc__ or ""))
    found = _ATTRIBUTE.findall(section[1]) if section else []
    return [[name, " ".join(text.split())] for name, text in found]


def _members(thing: type) -> ExplicitMasks:
    """Return attributes, properties and methods of a class, in the order of its code.

    What it inherits from classes of the package comes first.
    """
    rows = [[f"`.{name}`", text] for name, text in _attributes(thing)]
    own = [c for c in reversed(thing.__mro__) if c.__module__.startswith("eigsearch")]
    for name in dict.fromkeys(name for c in own for name in vars(c) if not name.startswith("_")):
        member = inspect.getattr_static(thing, name)
        if isinstance(member, property):
            rows.append([f"`.{name}`", _first(member)])
        elif inspect.isroutine(member):
            rows.append([_call(f".{name}", getattr(thing, name)), _first(getattr(thing, name))])
    return rows


def _named(module: ModuleType, names: Iterable[str], prefix: str = "") -> ExplicitMasks:
    """Return how functions and classes of a module are called, and what they are."""
    things = {name: getattr(module, name) for name in names}
    return [[_call(prefix + name, thing), _first(thing)] for name, thing in things.items()]


def _public(module: ModuleType) -> list[str]:
    return [name for name in module.__all__ if callable(getattr(module, name))]


def verbs() -> str:
    """Return the names that `import eigsearch` brings."""
    names = sorted(_public(eigsearch), key=str.lower)
    return _table(["name", "what it is"], _named(eigsearch, names))


def options() -> str:
    """Return every option with its default."""
    rows = [
        [f"`{field.name}`", f"`{field.default!r}`", field.metadata["help"]]
        for field in fields(Options)
    ]
    return _table(["option", "default", "what it says"], rows)


def explanation() -> str:
    """Return what a result holds and does."""
    return _table(["member", "what it is"], _members(SubgraphExplanation))


def curve() -> str:
    """Return what a curve holds."""
    rows = [[name, text] for name, text in _members(Curve) if "(" not in name]
    return _table(["member", "what it is"], rows)


def searches() -> str:
    """Return each search, and below it what its options mean."""
    rows = []
    for name, search in SEARCHES.items():
        rows.append([f'`"{name}"`', _call(search.__name__, search), _first(search)])
        rows += [["", f"`{option}`", text] for option, text in _attributes(search)]
    return _table(["name", "object, options", "what it does"], rows)


def arena() -> str:
    """Return each explainer: its options, what it does and needs, and its paper."""
    rows = []
    for name in explainers.names():
        method = type(explainers.get(name))
        needs = [*(["`fit` first"] if method.card.trains else []), *method.card.needs]
        call = _call(name, method).replace("()`", "`")
        rows.append([call, _first(method), ", ".join(needs) or "predictions", method.card.citation])
    return _table(["name, options", "what it does", "needs", "from"], rows)


def scores() -> str:
    """Return what makes the numbers, where that has another name than the number."""
    hidden = {*metrics.METRICS, "Metric"}
    names = sorted((name for name in _public(metrics) if name not in hidden), key=str.lower)
    return _table(["name", "what it is"], _named(metrics, names))


def numbers() -> str:
    """Return what each number means, and which way is up."""
    better = {True: "higher", False: "lower", None: "neither"}
    rows = []
    for name, metric in metrics.METRICS.items():
        function = getattr(metrics, name, None)
        call = _call(name, function) if function else f"`{name}`"
        rows.append([call, metric.definition, better[metric.higher_is_better]])
    return _table(["number", "what is computed", "better"], rows)


def data() -> str:
    """Return the functions of the data sets."""
    return _table(["name", "what it is"], _named(datasets, _public(datasets)))


def sets() -> str:
    """Return the data sets that have a name."""
    known = [datasets.info(name) for name in datasets.names()]
    rows = [[f"`{each.name}`", each.task, each.description, each.citation] for each in known]
    return _table(["name", "explains", "what it is", "from"], rows)


def networks() -> str:
    """Return the functions of the models and of the zoo."""
    own = ("GNN", "Recipe", "Card", *(name for name in _public(models) if name.islower()))
    rows = _named(models, own) + _named(zoo, ("names", "load"), "zoo.")
    return _table(["name", "what it is"], rows)


def trained() -> str:
    """Return the networks of the zoo with their accuracies."""
    rows = []
    for dataset, conv in zoo.names():
        card = zoo.load(dataset, conv)[1]
        known = (card.accuracy.test, card.paper_test_accuracy, card.published_accuracy)
        cells = ("" if each is None else f"{each:.2f}" for each in known)
        rows.append([f"`{dataset}`", f"`{conv}`", *cells])
    return _table(["data set", "layer", "test", "test in the paper", "published file"], rows)


def around() -> str:
    """Return what writes, reads and shows many explanations."""
    rows: ExplicitMasks = []
    for module, names in _AROUND.items():
        rows += _named(module, names, f"{module.__name__.removeprefix('eigsearch.')}.")
    return _table(["name", "what it is"], rows)


TABLES: dict[str, Callable[[], str]] = {
    each.__name__: each
    for each in (
        *(verbs, options, explanation, curve, searches, arena, scores, numbers, data, sets),
        *(networks, trained, around),
    )
}
