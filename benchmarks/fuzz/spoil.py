"""Spoiled input: graphs and options that have to be refused, and a word of the refusal."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import torch

from benchmarks.fuzz.cases import Case
from eigsearch.errors import EigsearchError

# Every message of the house: what was expected, what came, what to do.
SENTENCE = re.compile(r"^Expected .+ \(got.+\)\. [A-Z].+[.)]$", re.DOTALL)


def _feature(case: Case) -> str:
    case.graphs[-1].x[0, 0] = case.dice.choice([float("nan"), float("inf")])
    return "`x`"


def _far_end(case: Case) -> str:
    far = int(case.graphs[-1].num_nodes)
    case.graphs[-1].edge_index = torch.tensor([[0], [far]])
    return "name nodes from 0"


def _float_ends(case: Case) -> str:
    case.graphs[-1].edge_index = case.graphs[-1].edge_index.float()
    return "integers"


def _three_rows(case: Case) -> str:
    case.graphs[-1].edge_index = torch.zeros(3, 2, dtype=torch.long)
    return "[2, E]"


def _no_edges(case: Case) -> str:
    del case.graphs[-1].edge_index
    return "`edge_index`"


def _target(case: Case) -> str:
    case.options["target"] = 99
    return "`target`"


def _sparsity(case: Case) -> str:
    case.options["sparsity"] = 1.0
    return "`sparsity`"


def _partition(case: Case) -> str:
    case.options["groups"] = torch.zeros(99_999, dtype=torch.long)
    return "`groups`"


def _budget(case: Case) -> str:
    case.options["max_batch_nodes"] = 0
    return "`max_batch_nodes`"


WAYS: tuple[Callable[[Case], str], ...] = (
    _feature, _far_end, _float_ends, _three_rows, _no_edges, _target, _sparsity, _partition,
    _budget,
)  # fmt: skip


def spoiled(case: Case) -> tuple[Case, str]:
    """Return a case that has to be refused, and a word that the refusal has to say."""
    case = replace(case, graphs=[g.clone() for g in case.graphs], options=dict(case.options))
    return case, case.dice.choice(WAYS)(case)


def is_sentence(error: EigsearchError) -> bool:
    """Tell whether a refusal has the form of the house."""
    return bool(SENTENCE.match(str(error)))
