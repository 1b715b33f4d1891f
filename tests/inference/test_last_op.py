"""One output is a probability where the model's last operation says so, however it is run."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid
from torch_geometric.data import Data

import eigsearch
from eigsearch.errors import InputError
from eigsearch.explainers import Occlusion
from eigsearch.explainers.common.differentiable import DifferentiablePrediction
from tests.nets import house, make_net

End = Callable[[Tensor], Tensor]

PROBABILITIES: dict[str, End] = {
    "sigmoid": torch.sigmoid,
    "in place": torch.sigmoid_,
    "a column": lambda out: out.sigmoid()[:, 0],
    "flat": lambda out: out.sigmoid().flatten(),
    "another format": lambda out: out.sigmoid().squeeze(-1).float(),
}
SCORES: dict[str, End] = {
    "scaled": lambda out: 300 * out.sigmoid(),
    "scaled in place": lambda out: out.sigmoid().mul_(300),
    "scores": lambda out: out,
}
HAND_WRITTEN: dict[str, End] = {
    "formula": lambda out: 1 / (1 + torch.exp(-out)),
    "clamp": lambda out: out.clamp(0, 1),
    "mean of sigmoids": lambda out: torch.stack([out.sigmoid(), (2 * out).sigmoid()]).mean(0),
}


class Ending(nn.Module):
    """A network with one output, and what becomes of it."""

    def __init__(self, end: End) -> None:
        super().__init__()
        self.net, self.end = make_net(outputs=1), end

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.end(self.net(x, edge_index, batch=batch))


def kind(model: nn.Module, **said: str) -> Any:
    """Return what an explanation takes the model's output for."""
    return eigsearch.explain(model, house(), **said).config["return_type"]


@pytest.mark.parametrize("end", PROBABILITIES.values(), ids=PROBABILITIES)
@pytest.mark.parametrize("mode", [nullcontext, torch.no_grad, torch.inference_mode])
def test_last_op_sigmoid_gives_probabilities(end: End, mode: Callable[[], Any]) -> None:
    model = Ending(end)
    with mode():
        assert kind(model) == "probs"
        assert kind(model.requires_grad_(False)) == "probs"


@pytest.mark.parametrize("end", SCORES.values(), ids=SCORES)
def test_last_op_after_a_sigmoid_makes_scores_of_it(end: End) -> None:
    assert kind(Ending(end), task="binary") == "raw"


@pytest.mark.parametrize("end", HAND_WRITTEN.values(), ids=HAND_WRITTEN)
def test_probabilities_without_a_sigmoid_at_the_end_are_asked_about(end: End) -> None:
    with pytest.raises(InputError, match="return_type='probs'"):
        kind(Ending(end), task="binary")
    assert kind(Ending(end), task="binary", return_type="probs") == "probs"


def test_last_op_logarithms_of_probabilities_are_told_apart() -> None:
    assert kind(Ending(logsigmoid)) == "log_probs"


def test_explainers_read_an_output_as_a_run_does() -> None:
    model = Ending(torch.sigmoid)
    assert (
        DifferentiablePrediction(model, house(), 0, None).target.return_type
        == kind(model)
        == "probs"
    )


def test_last_op_sigmoid_of_several_binary_outputs_gives_probabilities() -> None:
    model, data = make_net(outputs=4), house()
    scores = eigsearch.explain(model, data, task="binary_classification", target=2)

    class Probabilities(nn.Module):
        def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
            return torch.sigmoid(model(x, edge_index, batch=batch))

    chances = eigsearch.explain(Probabilities(), data, task="binary_classification", target=2)
    assert chances.value == pytest.approx(scores.value)
    torch.testing.assert_close(chances.curve.kept, scores.curve.kept)


@pytest.mark.parametrize("ranker", [None, Occlusion()])
def test_last_op_several_sigmoids_are_taken_for_several_labels(ranker: Any) -> None:
    model, data = make_net(outputs=3, end="sigmoid"), house()
    ex = eigsearch.explain(model, data, ranker=ranker)
    output = model(data.x, data.edge_index)[0]
    assert ex.config["task"] == "binary_classification"
    assert ex.target == int(output.argmax())
    assert ex.value == pytest.approx(float(output.max()))


def labelled(label: float) -> Data:
    data = house()
    data.y = torch.tensor([label])
    return data


def test_all_labels_of_a_run_tell_one_task() -> None:
    """A count of 1 may be a class, a count of 3 may not: no data set is explained as both."""
    graphs, model = [labelled(count) for count in (1.0, 3.0, 0.0)], make_net(outputs=1)
    found = eigsearch.explain_dataset(model, graphs)
    assert [ex.config["task"] for ex in found] == ["regression"] * 3


def test_read_outputs_labels_of_all_nodes_tell_the_task() -> None:
    """Those around one node may happen to be zeros and ones."""
    data = house()
    data.y = torch.ones(9)
    data.y[0] = 7.5
    found = eigsearch.explain_dataset(make_net(pool=None, outputs=1), data, node=[0, 5, 8])
    assert {ex.config["task"] for ex in found} == {"regression"}


@pytest.mark.parametrize("end", [nn.functional.softplus, torch.relu, torch.abs])
def test_a_rate_is_not_taken_for_log_odds(end: End) -> None:
    data = house()
    data.y = torch.tensor([1])
    with pytest.raises(InputError, match=r"task='binary'.*task='regression'"):
        eigsearch.explain(Ending(end), data)
