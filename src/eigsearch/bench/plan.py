"""Benchmark plans: TOML files that expand to runs."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, get_args

from eigsearch import datasets
from eigsearch._utils.importing import is_import_name
from eigsearch._utils.name_lookup import resolve
from eigsearch.bench.plan_checks import (
    Check,
    all_of,
    check_values,
    is_count,
    is_count_or_zero,
    is_share,
    is_table,
    is_table_of,
    is_text,
    is_yes_or_no,
)
from eigsearch.bench.run_spec import Kind, RunSpec
from eigsearch.errors import InputError
from eigsearch.explainers.registry import resolve_name
from eigsearch.models import zoo
from eigsearch.models.published_networks import published_names
from eigsearch.search import SEARCHES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found]

_SETTING = re.compile(r"(.+?:\w+|[^/]+)/(.+)")  # data set and network: names or import paths
PLANS = Path(__file__).parent / "plans"

_NAMES, _COUNT, _COUNT_OR_ZERO = "a list of names", "a whole number from 1", "a whole number from 0"
_SHARES = "a list of numbers from 0 to below 1"
_PLAN_CHECKS: dict[str, tuple[Check, str]] = {
    "description": (is_text, "a text"),
    "section": (all_of(is_table), "written as [[section]]"),
    "explainer": (is_table, "written as [explainer.NAME]"),
}
_SECTION_CHECKS: dict[str, tuple[Check, str]] = {
    "name": (is_text, "a text"),
    "settings": (all_of(is_text), _NAMES),
    "explainers": (all_of(is_text), _NAMES),
    "searches": (all_of(is_text), _NAMES),
    "metrics": (all_of(is_text), _NAMES),
    "sparsities": (all_of(is_share), _SHARES),
    "limits": (is_table_of(all_of(is_share)), f"a table with, for each search, {_SHARES}"),
    "networks": (is_count, _COUNT),
    "seeds": (all_of(is_count_or_zero), "a list of whole numbers from 0"),
    "sample": (is_count, _COUNT),
    "kind": (is_text, "a text"),
    "timed": (is_yes_or_no, "true or false"),
    "max_groups": (is_count, _COUNT),
    "robust_samples": (is_count_or_zero, _COUNT_OR_ZERO),
    "stability_samples": (is_count_or_zero, _COUNT_OR_ZERO),
    "pictures": (is_count_or_zero, _COUNT_OR_ZERO),
}
_EXPLAINER_CHECKS: dict[str, tuple[Check, str]] = {
    "sample": (is_count, _COUNT),
    "seeds": (is_count, _COUNT),
    "fit_sample": (is_count, _COUNT),
    "options": (is_table, "a table"),
}


@dataclass(frozen=True)
class Section:
    """One experiment of a plan: its runs are all combinations of its lists.

    Attributes:
        name: The name of the experiment in the report.
        settings: Pairs of data set and network, such as `"MUTAG/gcn"`.
        explainers: The explainers by name.
        searches: The searches by name; `"fixed"` cuts the ranking at the sparsity.
        sparsities: The limits.
        limits: Those of single searches, instead of `sparsities`.
        sample: How many predictions of each setting to explain, for each seed.
        seeds: Each draws another sample, and seeds the explainers.
        networks: How many networks of the zoo to explain for each setting: seed s takes number
            s, from the first again when there are more seeds.
        kind, timed, max_groups, robust_samples, stability_samples, pictures: As in `RunSpec`.
        metrics: Metrics of the user, as `file.py:name` or `package.module:name`.
    """

    name: str
    settings: tuple[str, ...]
    sample: int
    explainers: tuple[str, ...] = ("eig_search",)
    searches: tuple[str, ...] = ("sweep",)
    sparsities: tuple[float, ...] = (0.5,)
    seeds: tuple[int, ...] = (0,)
    kind: Kind = "explain"
    max_groups: int | None = None
    robust_samples: int = 0
    stability_samples: int = 0
    pictures: int = 0
    metrics: tuple[str, ...] = ()
    limits: dict[str, tuple[float, ...]] = field(default_factory=dict)
    networks: int = 1
    timed: bool = True


@dataclass(frozen=True)
class ExplainerSettings:
    """Settings of a plan for one explainer: a smaller sample for a slow one, its options.

    Attributes:
        sample: The most predictions to explain with it.
        seeds: The most seeds to run it with.
        fit_sample: How many graphs to train it on.
        options: The options of its constructor.
    """

    sample: int | None = None
    seeds: int | None = None
    fit_sample: int | None = None
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """A list of experiments, and settings of single explainers in them."""

    name: str
    description: str
    sections: tuple[Section, ...]
    explainer_settings: dict[str, ExplainerSettings]
    weights: str | None = None

    def with_published_networks(self, directory: str | Path) -> Plan:
        """Return the plan on the paper's own networks, with weights from a directory.

        Settings for which the directory has no network are left out. There is one network for
        each, so seeds draw other samples only.

        Raises:
            InputError: If it has none of them.
        """
        known = {f"{dataset}/{conv}" for dataset, conv in published_names(directory)}
        kept = (_with_settings(section, known) for section in self.sections)
        sections = tuple(section for section in kept if section.settings)
        if not sections:
            raise InputError(
                f"Expected {directory} to hold weights for a setting of the plan {self.name} (got "
                f"{', '.join(sorted(known))}). Choose another plan."
            )
        name = f"{self.name}-published"
        return replace(self, name=name, sections=sections, weights=str(Path(directory).resolve()))

    def runs(self) -> list[RunSpec]:
        """Return the runs of all sections, each once, seed by seed.

        A plan that is stopped early so has every experiment with its first seeds.
        """
        runs = [run for section in self.sections for run in self._runs(section)]
        return list(dict.fromkeys(sorted(runs, key=lambda run: run.seed)))

    def _runs(self, section: Section) -> Iterator[RunSpec]:
        for setting, explainer in product(section.settings, section.explainers):
            overrides = self.explainer_settings.get(explainer, ExplainerSettings())
            dataset, model = _setting(setting)
            for seed in section.seeds[: overrides.seeds]:
                yield RunSpec(
                    section=section.name,
                    kind=section.kind,
                    dataset=dataset,
                    model=model,
                    explainer=explainer,
                    searches=section.searches,
                    sparsities=section.sparsities,
                    seed=seed,
                    sample=min(section.sample, overrides.sample or section.sample),
                    max_groups=section.max_groups,
                    robust_samples=section.robust_samples,
                    stability_samples=section.stability_samples,
                    pictures=section.pictures,
                    metrics=section.metrics,
                    fit_sample=overrides.fit_sample,
                    options=overrides.options,
                    weights=self.weights,
                    limits=section.limits,
                    timed=section.timed,
                    replica=_replica(section, model, seed),
                )


def read_plan(name: str | Path) -> Plan:
    """Return the plan in a TOML file, or the one of that name that comes with the package."""
    path = Path(name)
    if not path.is_file():
        known = {file.stem: file for file in sorted(PLANS.glob("*.toml"))}
        path = known[resolve("plan", str(name), known)]
    try:
        return parse_plan(path.read_text("utf-8"), path.stem)
    except (tomllib.TOMLDecodeError, UnicodeError, RecursionError) as error:
        raise InputError(
            f"Expected {path.name} to be a plan in TOML (got: {error}). Correct the file."
        ) from error


def parse_plan(text: str, name: str) -> Plan:
    """Return the plan that a TOML text describes, with every name in it checked."""
    values = tomllib.loads(text)
    check_values("plan", values, _PLAN_CHECKS)
    return Plan(
        name=name,
        description=values.get("description", ""),
        sections=tuple(_section(entry) for entry in values.get("section", [])),
        explainer_settings={
            resolve_name(key): _explainer_settings(entry)
            for key, entry in values.get("explainer", {}).items()
        },
    )


def _section(values: Any) -> Section:
    check_values("section", values, _SECTION_CHECKS)
    for needed in ("name", "settings", "sample"):
        if needed not in values:
            raise InputError(f"Expected a section of a plan to have `{needed}` (got none). Add it.")
    frozen: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in values.items()
    }
    if "limits" in values:
        frozen["limits"] = {name: tuple(limits) for name, limits in values["limits"].items()}
    section = Section(**frozen)
    if section.kind not in get_args(Kind):
        raise InputError(
            f"Expected `kind` to be one of {', '.join(get_args(Kind))} (got {section.kind!r}). "
            "Choose one of these."
        )
    for setting in section.settings:
        _check_networks(*_setting(setting), section.networks)
    for search in (*section.searches, *section.limits):
        resolve("search", search, SEARCHES)
    for explainer in section.explainers:
        resolve_name(explainer)
    return section


def _explainer_settings(values: Any) -> ExplainerSettings:
    check_values("explainer", values, _EXPLAINER_CHECKS)
    return ExplainerSettings(**values)


def _with_settings(section: Section, known: set[str]) -> Section:
    """Return a section without unknown settings."""
    settings = ("/".join(_setting(text)) for text in section.settings)
    kept = tuple(text for text in settings if text in known)
    return replace(section, settings=kept, networks=1)


def _check_networks(dataset: str, model: str, wanted: int) -> None:
    """Raise InputError if the zoo has fewer networks of a setting than a section wants."""
    count = wanted if is_import_name(model) else zoo.count_replicas(dataset, model)
    if wanted > count:
        raise InputError(
            f"Expected `networks` to be at most {count}, which the zoo has of {dataset} {model} "
            f"(got {wanted}). Lower it."
        )


def _replica(section: Section, model: str, seed: int) -> int:
    """Return which network of the zoo a seed explains; a network of the user is the only one."""
    return 0 if is_import_name(model) else seed % section.networks


def _setting(text: str) -> tuple[str, str]:
    """Return the data set and the network that a setting such as `MUTAG/gcn` names.

    Each may be the user's own, as in `my/data.py:make/my/net.py:make` or `MUTAG/net.py:make`.
    """
    found = _SETTING.fullmatch(text)
    dataset, model = found.groups() if found else (text, "")
    if not is_import_name(dataset):
        dataset = resolve("data set", dataset, datasets.names())
    if is_import_name(model):
        return dataset, model
    known = [conv for other, conv in zoo.names() if other == dataset]
    return dataset, resolve(f"network for {dataset}", model, known)
