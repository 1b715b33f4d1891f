"""The figures that `eigsearch demo` prints, as a row.

python -m benchmarks.speed.demo
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile

from benchmarks.speed.timing import write

SHOWN = {
    "graphs explained": ("rows", "{:.0f}"),
    "edges per graph": ("num_groups", "{:.1f}"),
    "size found (edges)": ("size", "{:.1f}"),
    "Fidelity+": ("fidelity_plus", "{:.3f}"),
    "Fidelity−": ("fidelity_minus", "{:.3f}"),
    "gain": ("gain", "{:.3f}"),
    "motif edges: AUC": ("auc", "{:.3f}"),
    "motif edges: precision": ("precision", "{:.3f}"),
    "motif edges: recall": ("recall", "{:.3f}"),
    "size that brings 90 % of the gain": ("elbow size", "{:.1f}"),
    "there, precision": ("elbow precision", "{:.3f}"),
    "there, recall": ("elbow recall", "{:.3f}"),
}


def main() -> None:
    """Run the demo and write what it found."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", "from eigsearch.cli import main; main()"]
        command += ["demo", "--json", "--out", folder]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = json.loads(printed)
    found |= {f"elbow {name}": value for name, value in found["elbow"].items()}
    rows = [
        {"what": name, "value": form.format(round(found[key], 3) + 0.0)}  # −0.000 is nothing to say
        for name, (key, form) in SHOWN.items()
    ]
    print(write("demo", rows))


if __name__ == "__main__":
    main()
