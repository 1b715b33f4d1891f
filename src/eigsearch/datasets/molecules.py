"""The molecule sets of PyG's TUDataset, from a download or from the user's raw files."""

import hashlib
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from torch_geometric.data import Data
from torch_geometric.datasets import TUDataset

from eigsearch._utils.file_digest import files_digest
from eigsearch.datasets.directories import cache_dir
from eigsearch.datasets.file_io import load_file, save_file
from eigsearch.datasets.loaders import Graphs
from eigsearch.errors import InputError

_GRAPHS, _CHECKSUM = "graphs.safetensors", "graphs.sha256"

MUTAG_ATOMS = ("C", "N", "O", "F", "I", "Cl", "Br")
MUTAG_BONDS = ("aromatic", "single", "double", "triple")
MUTAGENICITY_BONDS = ("single", "double", "triple")
MUTAGENICITY_ATOMS = (
    *("C", "O", "Cl", "H", "N", "F", "Br"),
    *("S", "P", "I", "Na", "K", "Li", "Ca"),
)

# No atom names were ever published for NCI1. Numbers of bonds and neighbours leave no doubt about
# these columns, which are 99.9 % of the atoms; the others, mostly lone metal ions, stay unnamed.
_NCI1_KNOWN = {0: "O", 1: "N", 2: "C", 3: "S", 4: "Cl", 5: "P", 6: "F", 13: "Br", 20: "I"} | {
    21: "Si",
    25: "As",
    26: "B",
}
NCI1_ATOMS = tuple(_NCI1_KNOWN.get(column, f"?{column}") for column in range(37))


@dataclass(frozen=True)
class MoleculeSource:
    """A set of the TU collection: raw files in the user's directory, else a download."""

    name: str
    label_edges: Callable[[Graphs, Path], str] | None = None

    def read(self, root: Path | None) -> tuple[Graphs, str]:
        """Return the molecules and one phrase on where they came from."""
        raw = root / self.name / "raw" if root else None
        if raw and (raw / f"{self.name}_A.txt").is_file():
            key, origin = f"{self.name}-{_digest(raw)}", "files of the data root"
        else:
            key, origin, raw = self.name, "downloaded", None
        folder = cache_dir() / f"molecules-{key}"
        if not _is_intact(folder):
            shutil.rmtree(folder, ignore_errors=True)
            self._prepare(folder, raw)
        saved = load_file(folder / _GRAPHS, task="graph")
        graphs = tuple(_with_atoms(graph) for graph in saved)
        truth = self.label_edges(graphs, folder / self.name / "raw") if self.label_edges else None
        return graphs, "; ".join(filter(None, (f"TUDataset, {origin}", truth)))

    def _prepare(self, folder: Path, raw: Path | None) -> None:
        """Make the cached folder from a copy of `raw`, or from a download.

        PyG writes beside the raw files, which may be read-only and are not ours, and reads its own
        file by unpickling it. So it only ever sees a new directory, from which the graphs go into
        safetensors. The folder is moved into place at the end: a killed process leaves no part.
        """
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as aside:
            made = Path(aside, "made")
            if raw:
                _copy_raw(raw, made / self.name / "raw")
            graphs = self._process(made)
            shutil.rmtree(made / self.name / "processed")
            save_file(graphs, made / _GRAPHS)
            (made / _CHECKSUM).write_text(files_digest([made / _GRAPHS]))
            with suppress(OSError):  # another process was faster, with the same result
                made.rename(folder)

    def _process(self, folder: Path) -> list[Data]:
        try:
            return list(TUDataset(str(folder), self.name))
        except (OSError, ValueError) as error:
            raise InputError(
                f"Expected the raw files of {self.name} to be downloadable or in the data root "
                f"(got {type(error).__name__}: {error}). Put them into a directory as "
                f"{self.name}/raw/{self.name}_*.txt and name it as data root or in EIGSEARCH_DATA."
            ) from error


def _is_intact(folder: Path) -> bool:
    """Return whether the cached graphs are those that were written."""
    try:
        return files_digest([folder / _GRAPHS]) == (folder / _CHECKSUM).read_text("utf-8")
    except (OSError, UnicodeError):
        return False


def _raw_files(raw: Path) -> list[Path]:
    return sorted(raw.glob("*.txt"))


def _digest(raw: Path) -> str:
    """Return a short hash of the raw files, so that changed files get a folder of their own."""
    total = hashlib.sha256()
    for file in _raw_files(raw):
        total.update(file.name.encode())
        total.update(file.read_bytes())
    return total.hexdigest()[:12]


def _copy_raw(raw: Path, folder: Path) -> None:
    folder.mkdir(parents=True)
    for file in _raw_files(raw):
        shutil.copyfile(file, folder / file.name)  # not its mode, which may forbid writing


def _with_atoms(graph: Data) -> Data:
    """Return the molecule with `node_label`, the column of each atom's one-hot feature.

    A graph of PyG's data set is a view of one large storage, which would travel along with each
    graph that is sent to another process: the copy owns its tensors.
    """
    graph = graph.clone()
    graph.node_label = graph.x.argmax(dim=1)
    return graph
