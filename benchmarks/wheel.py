"""Build the wheel, install it into an empty environment, and run the quick start from there."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
QUICK_START = """
import eigsearch
from eigsearch import datasets
from eigsearch.models import zoo

graphs = datasets.generate("BA-2Motifs")
model, _ = zoo.load("BA-2Motifs", "gin")
explanation = eigsearch.explain(model, graphs[0])
explanation.save("explanation.html")
print(eigsearch.__file__, explanation.sentence())
"""


def main() -> int:
    """Return 0 if the wheel works on its own."""
    with tempfile.TemporaryDirectory() as scratch:
        pip = [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "-w",
            scratch,
            str(ROOT),
        ]
        subprocess.run(pip, check=True)
        (wheel,) = Path(scratch).glob("eigsearch-*.whl")
        folder = Path(scratch, "empty")
        venv.create(folder, with_pip=True)
        python = str(folder / "bin" / "python")
        install = [python, "-m", "pip", "install", "--quiet", "-c", str(ROOT / "constraints.txt")]
        subprocess.run([*install, str(wheel)], check=True)
        subprocess.run([python, "-c", QUICK_START], check=True, cwd=scratch)
        subprocess.run([str(folder / "bin" / "eigsearch"), "--version"], check=True)
        assert Path(scratch, "explanation.html").stat().st_size > 10_000
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
