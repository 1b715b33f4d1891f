"""The package offers its names at once, and imports what is behind them when it is needed."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
import subprocess
import sys

import pytest

import eigsearch

_FIRST_NAMES = {  # what each public package offered at first, and offers still
    "explainers": (
        "DEGREE Attention Card DeepLIFT EiGSearchRanking GNNExplainer GStarX Grad GradCAM "
        "GraphMask GuidedBackprop InputXGradient IntegratedGradients Method Occlusion "
        "PGExplainer PGMExplainer RCExplainer RGExplainer Random Sensitivity SubgraphX get "
        "names table"
    ),
    "metrics": (
        "METRICS Claim Fidelity Metric RobustFidelity Subgraph auc average_precision "
        "characterization edge_induced edge_sparsity exhaustiveness fidelities fidelity "
        "intuitiveness jaccard node_and_edge_induced node_induced node_sparsity "
        "noise_stability precision precision_at_k recall relabelling_stability "
        "robust_fidelities robust_fidelity"
    ),
    "datasets": "DatasetInfo GraphDataset generate info load load_file names save_file",
    "models": (
        "CONVS GNN RECIPES Accuracy Card Recipe Split TrainResult evaluate load_model "
        "make_card recipe_for save_model split train zoo"
    ),
    "search": (
        "Anchored Curve Exhaustive FixedSize Outcome Problem Refine Resweep Search Step Steps "
        "Sweep check_min_size check_sparsity make_search size_range sizes_to_try"
    ),
    "store": (
        "Manifest ResultDirectory Row ShardFiles Subject Writer explanation_of read "
        "read_manifest rows summarize"
    ),
    "bench": "PLANS Plan Progress Results RunSpec carry_out parse_plan read_plan",
    "errors": "EigsearchError InputError ModelError UnsupportedError MissingExtraError",
    "work": (
        "DatabaseSource DirectorySource Job MappedSource MemorySource Progress SmilesSource "
        "Source explain_many explain_to perform"
    ),
    "report": (
        "Names comparison_page explanation_frame explanation_page gallery_page plot "
        "plot_curve save_comparison save_explanation save_figure save_gallery"
    ),
}
_RENAMED = {"work": "eigsearch.parallel", "report": "eigsearch.visualization"}


def in_a_new_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_package_names_are_there_before_torch_is() -> None:
    code = "import sys, eigsearch; print(*dir(eigsearch), 'torch' in sys.modules)"
    *names, torch = in_a_new_process(code).split()
    assert set(eigsearch.__all__) < set(names)
    assert torch == "False"


def test_package_module_needs_no_import_of_its_own() -> None:
    code = "import eigsearch; print(eigsearch.errors.InputError, eigsearch.metrics.auc.__name__)"
    assert in_a_new_process(code) == "<class 'eigsearch.errors.InputError'> auc"


def test_package_no_module_takes_a_name_away() -> None:
    modules = {module.name for module in pkgutil.iter_modules(eigsearch.__path__)}
    assert not modules & set(eigsearch.__all__)  # an import of it would rebind the name


@pytest.mark.parametrize("name", eigsearch.__all__)
def test_package_name_travels_to_other_processes(name: str) -> None:
    assert pickle.loads(pickle.dumps(getattr(eigsearch, name))) is getattr(eigsearch, name)


def test_package_name_that_there_is_not_raises() -> None:
    with pytest.raises(AttributeError, match="'eigsearch' has no attribute 'explane'"):
        _ = eigsearch.explane  # type: ignore[attr-defined]
    assert not hasattr(eigsearch, "__nothing__")


@pytest.mark.parametrize("name", ["explain", "pipeline"])
def test_package_module_that_lacks_a_library_says_which(name: str) -> None:
    without = "import sys; sys.modules['torch'] = None; import eigsearch\n"
    code = f"{without}try: eigsearch.{name}\nexcept ModuleNotFoundError as error: print(error.name)"
    assert in_a_new_process(code) == "torch"


@pytest.mark.filterwarnings("ignore:.* is now :DeprecationWarning")
@pytest.mark.parametrize("package", _FIRST_NAMES)
def test_public_package_names_of_the_first_release_are_there(package: str) -> None:
    module = importlib.import_module(f"eigsearch.{package}")
    missing = [name for name in _FIRST_NAMES[package].split() if not hasattr(module, name)]
    assert missing == []


@pytest.mark.parametrize("package", _RENAMED)
def test_renamed_package_import_warns_with_the_new_name(package: str) -> None:
    sys.modules.pop(f"eigsearch.{package}", None)
    with pytest.warns(DeprecationWarning, match=_RENAMED[package]):
        old = importlib.import_module(f"eigsearch.{package}")
    new = importlib.import_module(_RENAMED[package])
    for name in _FIRST_NAMES[package].split():
        assert getattr(old, name) is getattr(new, name)
