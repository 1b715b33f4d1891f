"""Imports of the first release keep working, and say what to import instead."""

from __future__ import annotations

import importlib
import subprocess
import sys
import warnings

import pytest

from eigsearch._utils.moved_modules import _MOVED, MovedModules

_PUBLIC = [
    ("datasets.files", "load_file save_file"),
    ("explainers.attention", "Attention"),
    ("explainers.captum_methods", "DeepLIFT GuidedBackprop InputXGradient"),
    ("explainers.degree", "DEGREE"),
    ("explainers.gnn_explainer", "GNNExplainer"),
    ("explainers.grad", "Grad"),
    ("explainers.gradcam", "GradCAM"),
    ("explainers.graphmask", "GraphMask"),
    ("explainers.gstarx", "GStarX"),
    ("explainers.integrated_gradients", "IntegratedGradients"),
    ("explainers.linear_gradients", "EiGSearchRanking"),
    ("explainers.occlusion", "Occlusion"),
    ("explainers.pg_explainer", "PGExplainer"),
    ("explainers.pgm_explainer", "PGMExplainer"),
    ("explainers.random_scores", "Random"),
    ("explainers.rcexplainer", "RCExplainer"),
    ("explainers.rg_explainer", "RGExplainer"),
    ("explainers.sensitivity", "Sensitivity"),
    ("explainers.subgraphx", "SubgraphX"),
    ("metrics.catalogue", "METRICS Metric"),
    ("metrics.claim", "Claim"),
    ("models.cards", "make_card"),
    ("models.recipes", "RECIPES Recipe recipe_for"),
    ("models.saving", "load_model save_model"),
    ("pyg", "EiGSearch"),
    ("report", "Names plot save_gallery"),
    ("report.comparison", "comparison_page save_comparison"),
    ("report.figure", "plot plot_curve save_figure"),
    ("report.gallery", "gallery_page save_gallery"),
    ("report.names", "Names"),
    ("report.single", "explanation_frame explanation_page save_explanation"),
    ("verbs", "explain explain_dataset"),
    ("work", "MemorySource explain_many explain_to"),
    ("work.backends", "Job perform"),
    ("work.explain_many", "explain_many"),
    ("work.explain_to", "Progress explain_to"),
    ("work.sources", "DatabaseSource DirectorySource MappedSource MemorySource Source"),
]


@pytest.mark.parametrize(("old", "names"), _PUBLIC)
def test_moved_modules_old_import_gives_the_same_objects_and_warns(old: str, names: str) -> None:
    new = importlib.import_module(f"eigsearch.{_MOVED[old]}")
    sys.modules.pop(f"eigsearch.{old}", None)
    with pytest.warns(DeprecationWarning, match=f"eigsearch.{old} is now {new.__name__}"):
        module = importlib.import_module(f"eigsearch.{old}")
    for name in names.split():
        assert getattr(module, name) is getattr(new, name)


def test_moved_modules_every_old_name_is_tested() -> None:
    assert [old for old, _ in _PUBLIC] == sorted(_MOVED)


def test_moved_modules_star_import_brings_the_public_names() -> None:
    names: dict[str, object] = {}
    with warnings.catch_warnings(record=True):
        exec("from eigsearch.report import *", names)
    assert {"Names", "plot", "save_gallery"} < names.keys()


@pytest.mark.parametrize("name", ["report", "work.sources", "eigsearch.works", "other.report"])
def test_find_spec_name_outside_of_the_table_is_none(name: str) -> None:
    assert MovedModules().find_spec(name) is None


def test_moved_modules_warning_points_at_the_import(tmp_path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import eigsearch\nfrom eigsearch.report.figure import plot\n")
    command = [sys.executable, "-W", "always::DeprecationWarning:__main__", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert f"{script}:2: DeprecationWarning: eigsearch.report.figure is now" in done.stderr
