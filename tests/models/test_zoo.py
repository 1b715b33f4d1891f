import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from eigsearch import datasets
from eigsearch.errors import InputError
from eigsearch.models import (
    RECIPES,
    TrainResult,
    evaluate,
    load_model,
    make_card,
    save_model,
    split,
    train,
    zoo,
)
from eigsearch.models.training_recipes import Recipe

MOLECULES = ("MUTAG", "Mutagenicity", "NCI1")
PUBLISHED = ("BA-2Motifs", "BA-Shapes", "BA-Community", "Tree-Grid")  # sets that have a file


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


def training_data(name: str) -> datasets.GraphDataset:
    """The very data that the zoo was trained on, or a skip that says what is missing."""
    if name not in MOLECULES:
        return datasets.generate(name)
    root = os.environ.get("EIGSEARCH_DATA")
    if not root or not Path(root, name, "raw").is_dir():
        pytest.skip(f"needs the raw files of {name}: set EIGSEARCH_DATA to a directory with them")
    return datasets.load(name, root=root)


def test_the_zoo_holds_a_network_for_every_recipe():
    assert set(zoo.names()) == {(recipe.dataset, recipe.conv) for recipe in RECIPES}


@pytest.mark.parametrize(("dataset", "conv"), zoo.names())
def test_a_card_tells_the_truth_about_its_network(dataset, conv):
    model, card = zoo.load(dataset, conv)
    data = training_data(dataset)
    assert not model.training
    assert card.data_sha256 == data.digest
    assert card.recipe in RECIPES
    test = split(data, card.recipe.seed).test
    assert evaluate(model, data, test)[0] == pytest.approx(card.accuracy.test, abs=0.5 / len(test))


@pytest.mark.parametrize(("dataset", "conv"), zoo.names())
def test_a_card_is_what_the_code_makes_of_the_training(dataset, conv):
    model, card = zoo.load(dataset, conv)
    trained = TrainResult(
        model, card.recipe, card.accuracy, card.best_epoch, card.epochs, card.seconds
    )
    made = make_card(trained, training_data(dataset))
    published = made.published_accuracy
    claimed = {"versions": card.versions, "published_accuracy": card.published_accuracy}
    assert replace(made, **claimed) == card
    assert (card.published_accuracy is not None) == (dataset in PUBLISHED)
    if published is not None:  # the data root has the file
        assert published == pytest.approx(card.published_accuracy, abs=1e-3)


@pytest.mark.parametrize(
    ("options", "command"),
    [
        ({}, "eigsearch train --dataset Tree-Grid --model gin"),
        ({"seed": 3, "max_epochs": 1}, "{} --seed 3 --epochs 1"),
        ({"width": 8}, ""),
    ],
)
def test_the_command_of_a_card_has_all_that_it_takes(options, command):
    model, card = zoo.load("Tree-Grid", "gin")
    recipe = replace(card.recipe, **options)
    result = TrainResult(model, recipe, card.accuracy, card.best_epoch, card.epochs, card.seconds)
    assert make_card(result, datasets.generate("Tree-Grid")).command == command.format(card.command)


def test_data_that_no_command_generates_have_no_command():
    model, card = zoo.load("Tree-Grid", "gin")
    result = TrainResult(model, card.recipe, card.accuracy, 1, 1, 1.0)
    assert make_card(result, datasets.generate("Tree-Grid", seed=1)).command == ""


@pytest.mark.parametrize(("dataset", "conv"), zoo.names())
def test_a_card_that_falls_short_of_the_paper_says_why(dataset, conv):
    card = zoo.load(dataset, conv)[1]
    paper = card.paper_test_accuracy
    assert paper is None or round(card.accuracy.test, 2) >= paper or card.recipe.remark


@pytest.mark.parametrize(
    "path", sorted(zoo.WEIGHTS.glob("*.safetensors")), ids=lambda path: path.stem
)
def test_weights_are_small_plain_tensors(path):
    assert path.stat().st_size < 200_000
    assert all(torch.isfinite(tensor).all() for tensor in load_file(path).values())


REPLICAS = sorted(zoo.WEIGHTS.glob("replica-*/*.safetensors"))


@pytest.mark.parametrize("path", REPLICAS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_replica_is_the_same_recipe_with_a_later_seed(path):
    (dataset, _, conv), number = path.stem.rpartition("-"), int(path.parent.name[-1])
    first, (model, card) = zoo.load(dataset, conv)[1], zoo.load(dataset, conv, number)
    later = replace(first.recipe, seed=first.recipe.seed + number, remark=card.recipe.remark)
    assert card.recipe == later
    assert card.data_sha256 == first.data_sha256
    assert card.command == f"{first.command} --seed {later.seed}"
    assert path.stat().st_size < 200_000
    data = training_data(dataset)
    test = split(data, later.seed).test
    assert evaluate(model, data, test)[0] == pytest.approx(card.accuracy.test, abs=0.5 / len(test))


def test_a_replica_that_is_not_there_is_refused():
    assert zoo.count_replicas("BA-2Motifs", "gin") == 3
    with pytest.raises(InputError, match="a replica from 0 to 2 of BA-2Motifs gin"):
        zoo.load("ba-2motifs", "gin", 3)


def test_wrong_names_are_answered_with_near_misses():
    with pytest.raises(InputError, match="Did you mean BA-2Motifs"):
        zoo.load("BA-3Motifs", "gin")
    with pytest.raises(InputError, match="zoo model for BA-2Motifs"):
        zoo.load("ba-2motifs", "gat")


def test_a_saved_network_comes_back_with_its_card(tmp_path):
    data = datasets.generate("Tree-Grid")
    result = train(data, "sage", Recipe("Tree-Grid", "sage", width=8, max_epochs=1))
    card = make_card(result, data)
    model, read = load_model(save_model(result.model, card, tmp_path))
    assert read == card
    x, edge_index = data[0].x, data[0].edge_index
    assert torch.equal(model(x, edge_index), result.model(x, edge_index))


@pytest.fixture
def copied(tmp_path) -> Path:
    for ending in ("safetensors", "json"):
        shutil.copy(zoo.WEIGHTS / f"BA-2Motifs-gin.{ending}", tmp_path)
    return tmp_path / "BA-2Motifs-gin.safetensors"


def test_weights_that_are_no_safetensors_are_refused(copied):
    torch.save({"weight": torch.ones(1)}, copied)
    with pytest.raises(InputError, match="weights that its card describes"):
        load_model(copied)


def test_weights_of_another_network_are_refused(copied):
    shutil.copy(zoo.WEIGHTS / "BA-2Motifs-gcn.safetensors", copied)
    with pytest.raises(InputError, match="weights that its card describes"):
        load_model(copied)


@pytest.mark.parametrize("content", ["", "[]", json.dumps({"recipe": {}}), "{}"])
def test_a_broken_card_is_named(copied, content):
    copied.with_suffix(".json").write_text(content)
    with pytest.raises(InputError, match=r"gin\.json to be the card"):
        load_model(copied)
