import re
from dataclasses import replace

import pytest
import torch

from eigsearch import datasets
from eigsearch.datasets import GraphDataset
from eigsearch.errors import InputError
from eigsearch.models import Recipe, evaluate, recipe_for, split, train


@pytest.fixture(scope="module")
def tiny() -> GraphDataset:
    whole = datasets.generate("BA-2Motifs")
    graphs = whole.graphs[::25]
    return GraphDataset(
        "tiny", "graph", graphs, 2, whole.class_names, "forty graphs", "", "generated"
    )


def short(conv: str, **changes) -> Recipe:
    return Recipe("tiny", conv, **({"width": 8, "max_epochs": 3, "batch_size": 8} | changes))


def weights(model: torch.nn.Module) -> torch.Tensor:
    return torch.cat([value.flatten().float() for value in model.state_dict().values()])


@pytest.mark.parametrize("conv", ["gcn", "gin", "sage", "gat"])
def test_the_same_call_gives_the_same_weights(conv, tiny):
    first = train(tiny, conv, short(conv))
    torch.rand(7)
    second = train(tiny, conv, short(conv))
    assert torch.equal(weights(first.model), weights(second.model))
    assert first.accuracy == second.accuracy


def test_another_seed_gives_other_weights(tiny):
    results = [train(tiny, "gin", short("gin", seed=seed)) for seed in (0, 1)]
    assert not torch.equal(*(weights(result.model) for result in results))


def test_training_leaves_random_state_and_threads_alone(tiny):
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    train(tiny, "gcn", short("gcn"))
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads


def test_the_result_is_ready_and_its_figures_are_true(tiny):
    result = train(tiny, "gin", short("gin"))
    parts = split(tiny, result.recipe.seed)
    assert not result.model.training
    assert result.accuracy.test == evaluate(result.model, tiny, parts.test)[0]
    assert 1 <= result.best_epoch <= result.epochs == 3


def test_training_stops_when_patience_ends(tiny):
    result = train(tiny, "gin", short("gin", max_epochs=50, patience=2, learning_rate=0.0))
    assert result.epochs <= result.best_epoch + 2 < 50


def test_train_small_data_set_raises_accuracy(tiny):
    untrained, trained = (
        train(tiny, "gin", short("gin", width=16, max_epochs=60, learning_rate=rate))
        for rate in (0.0, 0.01)
    )
    assert trained.accuracy.train > max(untrained.accuracy.train, 0.75)


def test_node_sets_are_trained_on_their_nodes():
    dataset = datasets.generate("Tree-Grid")
    result = train(dataset, "gin", Recipe("Tree-Grid", "gin", width=8, max_epochs=2))
    assert result.model(dataset[0].x, dataset[0].edge_index).shape == (1231, 2)


@pytest.mark.parametrize("name", ["BA-2Motifs", "BA-Shapes"])
def test_a_split_is_80_10_10_of_everything_once(name):
    dataset = datasets.generate(name)
    parts = split(dataset, seed=3)
    count = 1000 if name == "BA-2Motifs" else 700
    assert [len(part) for part in (parts.train, parts.val, parts.test)] == [
        count * 8 // 10,
        count // 10,
        count // 10,
    ]
    assert torch.cat([parts.train, parts.val, parts.test]).sort()[0].tolist() == list(range(count))
    assert torch.equal(split(dataset, seed=3).test, parts.test)
    assert not torch.equal(split(dataset, seed=4).test, parts.test)


def test_the_layer_s_name_is_found_however_it_is_typed(tiny):
    assert train(tiny, "GIN", short("gin", max_epochs=1)).recipe.conv == "gin"
    with pytest.raises(InputError, match="Did you mean sage"):
        train(tiny, "sages")


def test_pairs_outside_the_zoo_have_a_plain_recipe_in_the_paper_s_width():
    assert recipe_for("BA-Shapes", "sage").width == 32
    assert recipe_for("NCI1", "sage").width == 64


def test_no_progress_bar_where_there_is_no_terminal(tiny, capfd):
    train(tiny, "gcn", short("gcn"))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"y": None}, "graph 3 of tiny to have a class `y`"),
        ({"x": None}, "graph 3 of tiny to have node features `x`"),
        ({"y": torch.tensor([0.5])}, "got float32 of shape [1], from 0.5"),
        ({"y": torch.tensor([-1])}, "got int64 of shape [1], from -1"),
        ({"y": torch.tensor([0, 1])}, "in a `y` of int64 of shape [1] (got int64 of shape [2]"),
    ],
)
def test_a_graph_to_learn_nothing_from(tiny, fields, words):
    graphs = [graph.clone() for graph in tiny.graphs]
    graphs[3].update(fields)
    with pytest.raises(InputError, match=re.escape(words)):
        train(replace(tiny, graphs=tuple(graphs)), "gin", short("gin"))


def test_too_few_graphs_for_three_parts(tiny):
    few = [replace(tiny, graphs=tiny.graphs[-count:]) for count in (5, 6)]
    with pytest.raises(InputError, match=r"at least 6 graphs .* \(got 5\)"):
        train(few[0], "gin", short("gin"))
    assert train(few[1], "gin", short("gin")).epochs == 3


@pytest.mark.parametrize("name", ["width", "batch_size", "max_epochs"])
def test_a_recipe_that_trains_nothing_is_refused(tiny, name):
    with pytest.raises(InputError, match=rf"Expected `{name}` .* at least 1 \(got 0\)"):
        train(tiny, "gin", short("gin", **{name: 0}))
