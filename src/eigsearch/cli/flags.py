"""Flags that commands share, besides those of `eigsearch.Options`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eigsearch.options import HOW, WHAT

_DATA, _WHERE = "Data and model", "Where to run, what to write"
_NUMBERS = "0:50, ::10 or 3,7,20:30"


def _option(
    help: str, panel: str, *names: str, default: bool | str = True
) -> typer.models.OptionInfo:
    """Return an option; a text as `default` is what the help shows for None."""
    return typer.Option(*names, help=help, rich_help_panel=panel, show_default=default)


Dataset = Annotated[str | None, _option("A data set by name: `eigsearch datasets`.", _DATA)]
DataFile = Annotated[
    Path | None,
    _option(
        "Your own graphs: a file of PyG `Data` (.pt or .safetensors) or `HeteroData` (.pt), a "
        "directory of such files, molecules (.csv, .tsv, .smi, .sdf, .parquet), or one large graph "
        "(.safetensors).",
        _DATA,
        "--data",
    ),
]
SmilesColumn = Annotated[
    str | None, _option("The column of SMILES in --data; by default `smiles`.", _DATA)
]
IdColumn = Annotated[str | None, _option("The column that names molecules.", _DATA)]
LabelColumn = Annotated[
    str | None,
    _option("The column of labels: texts and few whole numbers are classes, else values.", _DATA),
]
Featurizer = Annotated[
    str,
    _option(
        "How molecules become graphs: pyg, pyg_hydrogens, elements, attentive_fp, or your own "
        "function as package.module:function or file.py:function.",
        _DATA,
    ),
]
ClassNames = Annotated[
    str | None, _option("What classes are called, with commas: `inactive,active`.", _DATA)
]
Unit = Annotated[
    str | None, _option("The unit of the values that a regression predicts: `mol/L`.", _DATA)
]
DataRoot = Annotated[
    Path | None,
    _option("A directory with raw files, for work without a network.", _DATA),
]
Model = Annotated[
    str,
    _option("A network of the zoo (gin, gcn, …), or your own as package.module:Class.", _DATA),
]
ServedModel = Annotated[
    str | None,
    _option(
        "A network of the zoo (gin, gcn, …), or your own as package.module:Class; by default that "
        "of the results, else gin.",
        _DATA,
    ),
]
Weights = Annotated[
    Path | None, _option("The model's weights: .safetensors, or a saved state_dict.", _DATA)
]
ModelArgs = Annotated[
    str | None, _option("""Arguments of your own class, as JSON: '{"hidden": 64}'.""", _DATA)
]
Layer = Annotated[str, _option("The layer: gcn, gin, sage or gat.", _DATA, "--model")]
Index = Annotated[str | None, _option(f"The graphs to explain: {_NUMBERS}. All by default.", WHAT)]
FEW = "0:20"
SomeIndex = Annotated[
    str | None,
    _option(f"The graphs to explain: {_NUMBERS}, or : for all.", WHAT, "--index", default=FEW),
]
ShownIndex = Annotated[
    str | None,
    typer.Option("--index", help=f"The graphs to show, by number: {_NUMBERS}. All by default."),
]
ShownNode = Annotated[
    str | None,
    typer.Option("--node", help="The nodes to show: 17, 300:400 or paper:7. All by default."),
]
ShownLink = Annotated[
    str | None,
    typer.Option("--link", help="The link to show: 3,7 or user:3,movie:7. All by default."),
]
Node = Annotated[
    str | None, _option("The nodes to explain on a node set: 17, 300:400, or : for all.", WHAT)
]
Link = Annotated[
    str | None,
    _option("The link to explain: 3,7, in a typed graph user:3,movie:7.", WHAT),
]
Links = Annotated[
    Path | None, _option("A text file of links to explain, one a line, as for --link.", WHAT)
]
Target = Annotated[int | None, _option("The class to explain; the predicted one by default.", WHAT)]

Explainer = Annotated[str, _option("What ranks the edges: `eigsearch explainers`.", HOW)]
SEARCH = "sweep"
Search = Annotated[
    str | None,
    _option(
        "How a ranking becomes a subgraph: sweep, resweep, refine, anchored, exhaustive, or fixed.",
        HOW,
        default=SEARCH,
    ),
]
Flip = Annotated[
    bool,
    _option(
        "Find the smallest set of edges whose removal changes the prediction; --search is then "
        "greedy or exhaustive, --max-size the most edges to change (10).",
        WHAT,
        "--flip",
    ),
]
To = Annotated[
    float | None,
    _option("With --flip: the class that is wanted, or the value to cross.", WHAT),
]
Add = Annotated[
    bool | None,
    _option(
        "With --flip: edges between nodes that share a neighbour may be added too.",
        WHAT,
        "--add",
    ),
]
Answers = Annotated[int | None, _option("With --flip: how many different sets to find.", WHAT)]
Seed = Annotated[int, _option("Where the randomness of an explainer starts.", HOW)]

Out = Annotated[Path | None, _option("The directory for rows; continues a stopped run.", _WHERE)]
Workers = Annotated[int | None, _option("Processes to share the work.", _WHERE)]
Ray = Annotated[
    str | None,
    _option(
        "Run on the Ray cluster at this address; without one, find or start a cluster.", _WHERE
    ),
]
Device = Annotated[
    str | None, _option("Where to compute: cpu, cuda, cuda:1, mps. The CPU by default.", _WHERE)
]
NumGpus = Annotated[
    float, _option("GPUs that each worker on Ray reserves and computes on.", _WHERE)
]
ShardSize = Annotated[int | None, _option("Rows that are computed and written together.", _WHERE)]
MaxFailures = Annotated[
    int | None,
    _option(
        "Stop after more rows without an explanation than this. By default after more than ten "
        "that are more than half of all.",
        _WHERE,
    ),
]
Report = Annotated[
    str | None, _option("Write a page with pictures of this name into the directory.", _WHERE)
]
AsJson = Annotated[bool, _option("Print JSON for machines.", _WHERE, "--json")]
