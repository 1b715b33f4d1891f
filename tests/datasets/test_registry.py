import pytest

from eigsearch import datasets
from eigsearch.errors import InputError


def test_names_and_info_agree():
    assert len(datasets.names()) == 13
    for name in datasets.names():
        entry = datasets.info(name)
        assert entry.name == name
        assert entry.description
        assert entry.citation


@pytest.mark.parametrize("spelling", ["tree-grid", "TreeGrid", "Tree Grid", "TREE_GRID"])
def test_a_name_is_found_however_it_is_typed(spelling):
    assert datasets.info(spelling).name == "Tree-Grid"


def test_a_wrong_name_is_answered_with_near_misses():
    with pytest.raises(InputError, match="Did you mean MUTAG") as caught:
        datasets.load("mutagg")
    assert "BA-Shapes" in str(caught.value)


def test_a_name_like_nothing_lists_all():
    with pytest.raises(InputError, match="Choose one of these"):
        datasets.load("qqqqqqq")


def test_a_root_that_is_no_directory_is_refused(tmp_path):
    with pytest.raises(InputError, match="data root to be a directory"):
        datasets.load("BA-Shapes", root=tmp_path / "nowhere")


def test_without_files_a_synthetic_set_is_generated(tmp_path, monkeypatch):
    monkeypatch.setenv("EIGSEARCH_DATA", str(tmp_path))
    dataset = datasets.load("BA-Shapes")
    assert dataset.provenance == "generated, seed 0"
    assert dataset.digest == datasets.generate("BA-Shapes").digest


def test_a_molecule_set_cannot_be_generated():
    with pytest.raises(InputError, match="synthetic"):
        datasets.generate("MUTAG")


def test_a_data_set_is_a_sequence_of_graphs():
    dataset = datasets.generate("Tree-Grid")
    assert len(dataset) == 1
    assert next(iter(dataset)) is dataset[0]
    assert dataset.has_ground_truth
    assert "Tree-Grid" in repr(dataset)
