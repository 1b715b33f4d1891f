"""Split an SDF file into records without reading its molecules."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from eigsearch.errors import InputError, MissingExtraError

_END = re.compile(rb"^\$\$\$\$[^\n]*\n?", re.MULTILINE)
_PROPERTY = re.compile(r"^>[^<\n]*<([^>\n]+)>[^\n]*\n(.*?)(?:\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)
_STOP = "M  END"


class SdfRecords:
    """The records of an SDF file by number: title, properties, and the molecule on demand."""

    def __init__(self, path: Path) -> None:
        self.content = path.read_bytes().replace(b"\r\n", b"\n")
        stops = [(match.start(), match.end()) for match in _END.finditer(self.content)]
        starts = [0, *(stop for _, stop in stops)]
        ends = [*(start for start, _ in stops), len(self.content)]
        spans = zip(starts, ends, strict=True)
        self.spans = [span for span in spans if self.content[slice(*span)].strip()]
        if not self.spans or _STOP.encode() not in self.content:
            raise InputError(f"Expected {path} to be an SDF file (got no molecule). Check it.")
        self.names = sorted({name for i in range(len(self)) for name in self.properties(i)})

    def __len__(self) -> int:
        return len(self.spans)

    def title(self, index: int) -> str:
        """Return the first line of a record."""
        return self._text(index).split("\n", 1)[0].strip()

    def properties(self, index: int) -> dict[str, str]:
        """Return the properties of a record as texts."""
        _, _, fields = self._text(index).partition(_STOP)
        return {name: value.strip() for name, value in _PROPERTY.findall(fields) if value.strip()}

    def molecule(self, index: int) -> Any:
        """Return the molecule of a record, without hydrogens."""
        try:
            from rdkit import Chem, rdBase
        except ImportError as error:
            raise MissingExtraError("rdkit", "chem", "read SDF") from error
        block, _, _ = self._text(index).partition(_STOP)
        with rdBase.BlockLogs():
            mol = Chem.MolFromMolBlock(f"{block}{_STOP}\n")
        if mol is None or mol.GetNumAtoms() == 0:
            raise InputError(
                f"Expected record {index} to be a molecule that RDKit can read (got "
                f"{self.title(index)!r}). Correct or remove it."
            )
        return mol

    def _text(self, index: int) -> str:
        start, stop = self.spans[index]
        return self.content[start:stop].decode("utf-8", errors="replace")
