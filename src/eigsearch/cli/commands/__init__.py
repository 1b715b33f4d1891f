"""The commands, one file each."""

from eigsearch.cli.commands.bench import bench
from eigsearch.cli.commands.check import check
from eigsearch.cli.commands.compare import compare
from eigsearch.cli.commands.demo import demo
from eigsearch.cli.commands.explain import explain
from eigsearch.cli.commands.listing import datasets, explainers, models
from eigsearch.cli.commands.report import report
from eigsearch.cli.commands.serve import serve
from eigsearch.cli.commands.train import train
from eigsearch.cli.commands.view import view

__all__ = [
    "bench",
    "check",
    "compare",
    "datasets",
    "demo",
    "explain",
    "explainers",
    "models",
    "report",
    "serve",
    "train",
    "view",
]
