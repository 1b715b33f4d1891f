"""Substructures that recur in the explanations of a data set, as a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.explanation.sentence import is_regression
from eigsearch.molecules.rationales import Rationale, molecule_of, rationales
from eigsearch.visualization import Names
from eigsearch.visualization.elements import formula


@dataclass(frozen=True)
class _Explained:
    """A molecule, what was explained about it, and its fragments."""

    mol: Any
    target: int
    value: float
    fragments: tuple[Rationale, ...]
    regression: bool


def substructures(
    explanations: Iterable[SubgraphExplanation],
    names: Names | None = None,
    *,
    min_bonds: int = 2,
    min_count: int = 2,
) -> list[dict[str, Any]]:
    """Return the fragments that recur in explanations of molecules, the most telling first.

    A fragment counts for an explanation if one of its rationales holds it, alone or in a larger
    one. Columns:

    - `smarts`, `formula`, `bonds`: the fragment;
    - `explanations`: how many explanations hold it;
    - `molecules`: how many of the explained molecules have it anywhere;
    - `used`: `explanations` / `molecules`, how often it is the reason where it is present;
    - for classes, `share <class>`: the share of the explanations of a class that hold it, then
      `class`, the one with the highest share, `enrichment`: this share over the share in all
      explanations, and `p_value` of Fisher's exact test, one-sided, this class against the rest;
    - for a regression, `mean value with` and `mean value without` it.

    Args:
        explanations: Explanations of molecules.
        names: What classes are called.
        min_bonds: The smallest fragments to count.
        min_count: In how many explanations a fragment has to be.

    Returns:
        A row for each fragment; `eigsearch.molecules.save_table(rows, "motifs.xlsx")` writes them.
    """
    names = names or Names()
    explained = [_explained(explanation) for explanation in explanations]
    patterns: dict[str, Rationale] = {}
    for one in explained:
        for fragment in one.fragments:
            if len(fragment.bonds) >= min_bonds:
                patterns.setdefault(fragment.key, fragment)
    rows = [_row(fragment, explained, names) for fragment in patterns.values()]
    rows = [row for row in rows if row["explanations"] >= min_count]
    return sorted(rows, key=_order)


def _explained(explanation: SubgraphExplanation) -> _Explained:
    return _Explained(
        molecule_of(explanation),
        explanation.target,
        explanation.value,
        tuple(rationales(explanation)),
        is_regression(explanation),
    )


def _row(fragment: Rationale, explained: Sequence[_Explained], names: Names) -> dict[str, Any]:
    from rdkit import Chem

    pattern = Chem.MolFromSmarts(fragment.smarts)
    present = sum(one.mol.HasSubstructMatch(pattern) for one in explained)
    holds = [_holds(one, fragment, pattern) for one in explained]
    return {
        "smarts": fragment.smarts,
        "formula": formula([atom.GetSymbol() for atom in pattern.GetAtoms()]),
        "bonds": len(fragment.bonds),
        "explanations": sum(holds),
        "molecules": present,
        "used": sum(holds) / present,
        **(_values if explained[0].regression else _shares)(holds, explained, names),
    }


def _holds(one: _Explained, fragment: Rationale, pattern: Any) -> bool:
    """Return whether the pattern matches with all of its bonds inside of one rationale."""
    if any(own.key == fragment.key for own in one.fragments):
        return True
    inside = {frozenset(bond) for own in one.fragments for bond in own.bonds}
    bonds = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for b in pattern.GetBonds()]
    if len(inside) <= len(bonds):
        return False
    matches = one.mol.GetSubstructMatches(pattern, uniquify=False, maxMatches=10_000)
    return any(all(frozenset((m[u], m[v])) in inside for u, v in bonds) for m in matches)


def _shares(holds: Sequence[bool], explained: Sequence[_Explained], names: Names) -> dict[str, Any]:
    """Return how a fragment is spread over the explained classes."""
    by_class: dict[int, list[bool]] = defaultdict(list)
    for held, one in zip(holds, explained, strict=True):
        by_class[one.target].append(held)
    shares = {target: mean(map(float, held)) for target, held in sorted(by_class.items())}
    best = max(shares, key=lambda target: shares[target])
    return {
        **{f"share {names.class_name(target)}": share for target, share in shares.items()},
        "class": names.class_name(best),
        "enrichment": shares[best] / (sum(holds) / len(holds)) if any(holds) else None,
        "p_value": _fisher(by_class, best),
    }


def _fisher(by_class: dict[int, list[bool]], target: int) -> float:
    from scipy.stats import fisher_exact

    inside = by_class[target]
    outside = [held for other, each in by_class.items() if other != target for held in each]
    table = [[sum(each), len(each) - sum(each)] for each in (inside, outside)]
    return float(fisher_exact(table, alternative="greater").pvalue)


def _values(holds: Sequence[bool], explained: Sequence[_Explained], names: Names) -> dict[str, Any]:
    """Return the mean value of molecules whose explanation holds a fragment, and of the others."""
    within = [one.value for held, one in zip(holds, explained, strict=True) if held]
    without = [one.value for held, one in zip(holds, explained, strict=True) if not held]
    unit = f" ({names.unit})" if names.unit else ""
    return {
        f"mean value with{unit}": mean(within) if within else None,
        f"mean value without{unit}": mean(without) if without else None,
    }


def _order(row: dict[str, Any]) -> tuple[float, float, str]:
    return row.get("p_value", 0.0), -row["explanations"], row["smarts"]
