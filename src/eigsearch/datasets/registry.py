"""The registry of data sets: names, descriptions, and how to load them."""

from dataclasses import dataclass
from pathlib import Path

from torch_geometric.data import Data

from eigsearch._utils.name_lookup import resolve
from eigsearch.datasets import mutagenicity_truth, published, synthetic
from eigsearch.datasets.dataset import GraphDataset, Task
from eigsearch.datasets.directories import data_root
from eigsearch.datasets.loaders import GeneratedSource, Source, SyntheticSource
from eigsearch.datasets.molecules import (
    MUTAG_ATOMS,
    MUTAG_BONDS,
    MUTAGENICITY_ATOMS,
    MUTAGENICITY_BONDS,
    NCI1_ATOMS,
    MoleculeSource,
)
from eigsearch.datasets.planted_columns import planted_columns
from eigsearch.datasets.sbm_links import sbm_links
from eigsearch.datasets.two_ways import two_ways
from eigsearch.datasets.typed_motifs import typed_motifs
from eigsearch.datasets.user_item_attr import UserItemAttrSource
from eigsearch.errors import InputError

HOUSE_ROLES = ("base", "middle", "bottom", "roof")
GNNEXPLAINER = "Ying et al., GNNExplainer, NeurIPS 2019"
PGEXPLAINER = "Luo et al., Parameterized Explainer for GNNs, NeurIPS 2020"


@dataclass(frozen=True)
class DatasetInfo:
    """What is known about a data set before it is loaded."""

    name: str
    task: Task
    class_names: tuple[str, ...]
    description: str
    citation: str
    source: Source
    node_names: tuple[str, ...] | None = None
    edge_names: tuple[str, ...] | None = None
    target_type: str | tuple[str, str] | None = None


def names() -> tuple[str, ...]:
    """Return the names that `load` knows."""
    return tuple(_SETS)


def info(name: str) -> DatasetInfo:
    """Return what is known about a data set without loading it."""
    return _SETS[resolve("data set", name, _SETS)]


def load(name: str, root: str | Path | None = None) -> GraphDataset:
    """Return a data set by name.

    Files in the directory `root` (else the one in the variable EIGSEARCH_DATA) win: molecules in
    `NAME/raw/*.txt`, published synthetic sets in `.npz`. Without them, synthetic sets are generated
    with seed 0 and molecules are downloaded once into the user's cache. The `provenance` of the
    data set says which of these happened. Nothing is ever written to `root`.

    >>> load("tree-grid")[0].num_nodes
    1231
    """
    entry = info(name)
    return _dataset(entry, *entry.source.read(data_root(root)))


def generate(name: str, seed: int = 0) -> GraphDataset:
    """Return a synthetic data set from its generator, whatever published files there are."""
    entry = info(name)
    if not isinstance(entry.source, GeneratedSource):
        raise InputError(
            f"Expected the data set to be a synthetic one (got {entry.name!r}). "
            "Use `load`, which reads or downloads it."
        )
    return _dataset(entry, *entry.source.generated(seed))


def _dataset(entry: DatasetInfo, graphs: tuple[Data, ...], provenance: str) -> GraphDataset:
    return GraphDataset(
        name=entry.name,
        task=entry.task,
        graphs=graphs,
        num_classes=len(entry.class_names),
        class_names=entry.class_names,
        description=entry.description,
        citation=entry.citation,
        provenance=provenance,
        node_names=entry.node_names,
        edge_names=entry.edge_names,
        target_type=entry.target_type,
    )


_SETS = {
    entry.name: entry
    for entry in (
        DatasetInfo(
            name="BA-2Motifs",
            task="graph",
            class_names=("cycle", "house"),
            description="1,000 random trees of 20 nodes that carry a five-node cycle or house",
            citation=PGEXPLAINER,
            source=SyntheticSource(
                synthetic.ba_2motifs, "BA-2motif.npz", published.read_ba_2motifs
            ),
        ),
        DatasetInfo(
            name="BA-Shapes",
            task="node",
            class_names=HOUSE_ROLES,
            description="80 houses on a Barabási-Albert graph; a node's class is its role",
            citation=GNNEXPLAINER,
            source=SyntheticSource(synthetic.ba_shapes, "syn1.npz", published.read_node_set),
        ),
        DatasetInfo(
            name="BA-Community",
            task="node",
            class_names=tuple(f"{side} {role}" for side in "AB" for role in HOUSE_ROLES),
            description="two joined BA-Shapes told apart by Gaussian features",
            citation=GNNEXPLAINER,
            source=SyntheticSource(synthetic.ba_community, "syn2.npz", published.read_node_set),
        ),
        DatasetInfo(
            name="Tree-Grid",
            task="node",
            class_names=("tree", "grid"),
            description="80 grids of 3 × 3 nodes on a balanced binary tree of depth 8",
            citation=GNNEXPLAINER,
            source=SyntheticSource(synthetic.tree_grid, "syn4.npz", published.read_node_set),
        ),
        DatasetInfo(
            name="Cycle-House-None",
            task="graph",
            class_names=("none", "cycle", "house"),
            description="900 random trees of 20 nodes that carry a cycle, a house, or neither",
            citation="eigsearch",
            source=GeneratedSource(synthetic.cycle_house_none),
        ),
        DatasetInfo(
            name="Planted-Columns",
            task="node",
            class_names=("+ + +", "+ − −", "− + −", "− − +"),
            description="1,200 nodes whose class shows in three of twenty columns of features",
            citation="eigsearch",
            source=GeneratedSource(planted_columns),
        ),
        DatasetInfo(
            name="MUTAG",
            task="graph",
            class_names=("not mutagenic", "mutagenic"),
            description="188 nitroaromatic compounds and their effect on Salmonella",
            citation="Debnath et al., J. Med. Chem. 34(2), 1991",
            source=MoleculeSource("MUTAG"),
            node_names=MUTAG_ATOMS,
            edge_names=MUTAG_BONDS,
        ),
        DatasetInfo(
            name="Mutagenicity",
            task="graph",
            class_names=("mutagen", "nonmutagen"),
            description="4,337 compounds and their mutagenicity; NO2 and NH2 are the known causes",
            citation="Kazius et al., J. Med. Chem. 48(1), 2005",
            source=MoleculeSource("Mutagenicity", mutagenicity_truth.label_edges),
            node_names=MUTAGENICITY_ATOMS,
            edge_names=MUTAGENICITY_BONDS,
        ),
        DatasetInfo(
            name="NCI1",
            task="graph",
            class_names=("inactive", "active"),
            description="4,110 compounds screened against non-small cell lung cancer",
            citation="Wale and Karypis, ICDM 2006",
            source=MoleculeSource("NCI1"),
            node_names=NCI1_ATOMS,
        ),
        DatasetInfo(
            name="Typed-Motifs",
            task="node",
            class_names=("ax or by", "ay or bx"),
            description="240 typed centers; a class has more of the typed chains that speak for it",
            citation="eigsearch",
            source=GeneratedSource(typed_motifs),
            target_type="center",
        ),
        DatasetInfo(
            name="Two-Ways",
            task="link",
            class_names=("no link", "link"),
            description="600 pairs of user and item that one of two types of path decides",
            citation="eigsearch",
            source=GeneratedSource(two_ways),
            target_type=("user", "item"),
        ),
        DatasetInfo(
            name="SBM-Links",
            task="link",
            class_names=("no link", "link"),
            description="792 pairs in dense blocks, linked by common neighbours of one kind",
            citation="eigsearch",
            source=GeneratedSource(sbm_links),
        ),
        DatasetInfo(
            name="UserItemAttr",
            task="link",
            class_names=("no link", "likes"),
            description="714 likes of users for items, explained by short paths; not shipped",
            citation="Zhang et al., PaGE-Link, WWW 2023",
            source=UserItemAttrSource(),
            target_type=("user", "item"),
        ),
    )
}
