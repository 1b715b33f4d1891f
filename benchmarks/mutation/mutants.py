"""Mutants: every small change that can be made to a module's expressions."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.And: ast.Or, ast.Or: ast.And,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_NAMES = {
    "min": "max", "max": "min", "any": "all", "all": "any", "argmax": "argmin", "argmin": "argmax",
    "amax": "amin", "amin": "amax", "minimum": "maximum", "maximum": "minimum",
    "floor": "ceil", "ceil": "floor", "zeros": "ones", "ones": "zeros",
    "zeros_like": "ones_like", "ones_like": "zeros_like", "new_zeros": "new_ones",
    "new_ones": "new_zeros",
}  # fmt: skip
# Texts, types and imports: a change there is another sentence or another name, not another answer.
_SKIPPED = (ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom, ast.Assert)


@dataclass(frozen=True)
class Mutant:
    """One change: the bytes of a file from `start` to `end` become `text`."""

    path: Path
    line: int
    start: int
    end: int
    before: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}  {self.before}  →  {self.text}"

    def apply(self, source: bytes) -> bytes:
        """Return the source of the file with the change in it."""
        return source[: self.start] + self.text.encode() + source[self.end :]


def mutants_of(root: Path, path: Path) -> Iterator[Mutant]:
    """Yield every mutant of a module, in the order of the file."""
    source = (root / path).read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in _expressions(ast.parse(source)):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        before = " ".join(source[start:end].decode().split())
        for changed in _changes(node):
            text = ast.unparse(changed)
            text = text if isinstance(changed, ast.Constant | ast.Attribute) else f"({text})"
            yield Mutant(path, node.lineno, start, end, before, text)


def _expressions(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions that are computed; annotations, decorators and texts are not."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, _SKIPPED):
                continue
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.expr):
                yield child
            yield from _expressions(child)


def _changes(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the changed forms of one expression, without those of its parts."""
    if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in _OPERATORS:
        yield _with(node, op=_OPERATORS[type(node.op)]())
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield _with(node, ops=[_OPERATORS[type(node.ops[0])]()])
    elif isinstance(node, ast.Compare):
        for number, op in enumerate(node.ops):
            ops = [*node.ops[:number], _OPERATORS[type(op)](), *node.ops[number + 1 :]]
            yield _with(node, ops=ops)
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
        yield node.operand
    elif isinstance(node, ast.IfExp):
        yield _with(node, body=node.orelse, orelse=node.body)
    elif isinstance(node, ast.Call):
        yield from _renamed(node)
    elif isinstance(node, ast.Constant):
        yield from _other_constants(node)


def _renamed(node: ast.Call) -> Iterator[ast.expr]:
    function = node.func
    if isinstance(function, ast.Name) and function.id in _NAMES:
        yield _with(node, func=ast.Name(_NAMES[function.id]))
    if isinstance(function, ast.Attribute) and function.attr in _NAMES:
        yield _with(node, func=_with(function, attr=_NAMES[function.attr]))


def _other_constants(node: ast.Constant) -> Iterator[ast.expr]:
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int):
        yield ast.Constant(node.value + 1)
    elif isinstance(node.value, float):
        yield ast.Constant(node.value * 2 if node.value else 1.0)


def _with(node: ast.expr, **fields: object) -> ast.expr:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed
