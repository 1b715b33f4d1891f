"""Chemical element symbols and formulas."""

from __future__ import annotations

_TABLE = """
H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr
Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb
Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr Rf
Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og
"""
SYMBOLS = frozenset(_TABLE.split())

# Carbon leads and hydrogen closes, so that groups read as chemists write them: NO2, NH2, CH3.
_FORMULA_FIRST = ("C", "N", "S", "P", "O", "F", "Cl", "Br", "I")
_SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def is_element(symbol: str) -> bool:
    """Return whether a name is the symbol of a chemical element."""
    return symbol in SYMBOLS


def subscript(number: int) -> str:
    """Return a count as a formula subscript; empty for one.

    >>> "NO" + subscript(2)
    'NO₂'
    """
    return "" if number == 1 else str(number).translate(_SUBSCRIPT)


def formula(symbols: list[str]) -> str:
    """Return the formula of a group of atoms.

    >>> formula(["O", "N", "O"])
    'NO₂'
    """
    return "".join(
        symbol + subscript(symbols.count(symbol))
        for symbol in sorted(set(symbols), key=_formula_position)
    )


def _formula_position(symbol: str) -> tuple[int, str]:
    if symbol == "H":
        return len(_FORMULA_FIRST) + 1, symbol
    return (
        _FORMULA_FIRST.index(symbol) if symbol in _FORMULA_FIRST else len(_FORMULA_FIRST)
    ), symbol
