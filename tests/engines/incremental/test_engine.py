"""The incremental engine gives what the batched engine gives, or steps aside."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import (
    GIN,
    EdgeConv,
    GCNConv,
    GraphConv,
    GraphSAGE,
    MessagePassing,
    MLPAggregation,
    SAGEConv,
    global_mean_pool,
)

import eigsearch
from eigsearch.candidates import Complements, JointFlips, LeaveOneOut, Prefixes, SingleFlips
from eigsearch.engines import BatchedEngine, Request
from eigsearch.engines.incremental import IncrementalEngine, bags, pooling
from eigsearch.engines.incremental.context import EvalContext
from eigsearch.engines.incremental.functions import dispatch
from eigsearch.engines.incremental.index import state_table
from eigsearch.inference.eval_mode import eval_mode
from eigsearch.inference.model_call import ModelCall
from eigsearch.inputs.instance import PreparedInstance
from tests.instances import field_of, prepare_graph, prepare_node
from tests.nets import (
    CONVS,
    MORE_CONVS,
    POOLS,
    WIDTH,
    attributed,
    house,
    make_net,
    vivid,
)


def candidate_sets(instance: PreparedInstance, seed: int = 0) -> list[Request]:
    """Return one request of each kind that the engine knows."""
    dice = torch.Generator().manual_seed(seed)
    count = instance.groups.count
    order = torch.randperm(count, generator=dice)
    base = torch.rand(count, generator=dice) < 0.6
    base[:2] = True
    member = torch.arange(count) // 2
    member[0] = count  # no unit holds the whole base
    return [
        Request(instance, LeaveOneOut(count)),
        Request(instance, Prefixes(order, list(range(1, count, 2)))),
        Request(instance, Complements(order, list(range(1, count)))),
        Request(instance, SingleFlips(base, list(range(count)))),
        Request(instance, JointFlips(base, member, [count, *range(count // 2 + 2)])),
    ]


def assert_same(model: Any, requests: Sequence[Request], max_rows: int | None = None) -> None:
    first = requests[0].instance
    model_call = ModelCall(model)
    if len(first.anchors) > 1:
        model_call = model_call.with_link(first.readable)
    with eval_mode(model):
        engine = IncrementalEngine(model_call, max_rows)
        assert all(engine.layers_for(request) for request in requests)
        found, expected = engine.outputs(requests), BatchedEngine(model_call).outputs(requests)
    for mine, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("conv", CONVS)
def test_every_layer_and_pooling(conv: str, pool: str) -> None:
    torch.manual_seed(0)
    assert_same(make_net(conv, pool), candidate_sets(prepare_graph(house(), "auto")))


def test_attention_whose_weights_are_far_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """A running total would lose the small ones in the large ones."""
    monkeypatch.setattr(pooling, "_PAIRS_PER_ROW", 0)
    model = make_net("GCN", "attention").float()
    with torch.no_grad():
        model.pool.gate_nn.weight *= 2000
    data = house()
    data.x, data.edge_attr = data.x.float(), data.edge_attr.float()
    data.edge_weight = data.edge_weight.float()
    assert_same(model, candidate_sets(prepare_graph(data, "auto")))


@pytest.mark.parametrize("pairs_per_row", [0, 16])
def test_attention_to_single_features(pairs_per_row: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pooling, "_PAIRS_PER_ROW", pairs_per_row)
    model = make_net("GCN", "attention")
    model.pool.gate_nn = vivid(nn.Linear(WIDTH, WIDTH))
    assert_same(model, candidate_sets(prepare_graph(house(), "auto")))


SERVED = [conv for conv in (*CONVS, *MORE_CONVS) if conv != "MF"]


@pytest.mark.parametrize("conv", [conv for conv in MORE_CONVS if conv in SERVED])
def test_incremental_engine_further_layers_equal_the_batched_engine(conv: str) -> None:
    assert_same(make_net(conv, "mean"), candidate_sets(prepare_graph(house(), "auto")))


@pytest.mark.parametrize("conv", SERVED)
def test_incremental_engine_one_node_equals_the_batched_engine(conv: str) -> None:
    torch.manual_seed(0)
    model, data = make_net(conv, None), house()
    assert_same(model, candidate_sets(prepare_node(data, 2, field_of(model))))


@pytest.mark.parametrize("conv", SERVED)
@pytest.mark.parametrize("node", [None, 2])
def test_incremental_engine_hub_rows_by_differences_equal_rows_on_graphs(
    conv: str, node: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bags, "_HUB", 0)
    torch.manual_seed(0)
    model = make_net(conv, "mean" if node is None else None)
    whole = prepare_graph(house(), "auto") if node is None else None
    assert_same(model, candidate_sets(whole or prepare_node(house(), 2, field_of(model))))


def test_incremental_engine_hub_needs_no_message_for_each_pair_of_neighbours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spokes = torch.arange(1, 201)
    ends = torch.stack([torch.zeros_like(spokes), spokes])
    x = torch.randn(201, 5, generator=torch.manual_seed(0))
    star = Data(x=x, edge_index=torch.cat([ends, ends.flip(0)], dim=1))
    model = GraphSAGE(5, 8, 2, out_channels=3)
    links: list[int] = []
    monkeypatch.setattr(EvalContext, "make_room", lambda self, rows, many: links.append(many))
    instance = prepare_node(star, 0, field_of(model))
    assert_same(model, [Request(instance, LeaveOneOut(instance.groups.count))])
    assert max(links) < 200 * 200 / 10


class Residual(nn.Module):
    """Layers of several kinds, a residual, jumping knowledge and a norm, pooled by name."""

    def __init__(self, pool: Any = global_mean_pool) -> None:
        super().__init__()
        self.first, self.second = GraphConv(5, 8), SAGEConv(8, 8, aggr="max", normalize=True)
        self.third, self.norm = GCNConv(8, 8, improved=True), nn.BatchNorm1d(8)
        self.head, self.pool = nn.Linear(24, 3), pool

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        first = self.first(x, edge_index).relu()
        second = torch.nn.functional.elu(self.second(first, edge_index)) + first
        third = self.norm(self.third(second, edge_index))
        return self.head(self.pool(torch.cat([first, second, third], dim=-1), batch))


def test_incremental_engine_residuals_and_jumping_knowledge_equal_the_batched_engine() -> None:
    torch.manual_seed(0)
    assert_same(vivid(Residual()), candidate_sets(prepare_graph(house(), "auto")))


@st.composite
def graphs(draw: st.DrawFn) -> Data:
    nodes = draw(st.integers(4, 12))
    node = st.integers(0, nodes - 1)
    pairs = draw(st.lists(st.tuples(node, node), min_size=5, max_size=20, unique=True))
    return attributed([(u, v) for u, v in pairs if u != v] or [(0, 1)], nodes)


@given(data=graphs(), directed=st.booleans(), seed=st.integers(0, 99))
def test_incremental_engine_random_graphs_give_the_same_scores(
    data: Data, directed: bool, seed: int
) -> None:
    instance = prepare_graph(data, "directed" if directed else "auto")
    if instance.groups.count < 4:
        return
    torch.manual_seed(seed)
    assert_same(vivid(Residual()), candidate_sets(instance, seed))


def plain(data: Data) -> Data:
    """Return the graph with few kinds of nodes and of edges, as molecules have."""
    for name in ("x", "edge_attr", "edge_weight"):
        data[name] = data[name].sign()
    return data


@pytest.mark.parametrize("conv", SERVED)
def test_incremental_engine_many_equal_neighbourhoods_equal_the_batched_engine(conv: str) -> None:
    """What is computed once for all rows of one colour is right for each of them."""
    torch.manual_seed(0)
    ring = [(i, (i + 1) % 12) for i in range(12)]
    tree = [((i - 1) // 2, i) for i in range(1, 12)]
    hung = [plain(attributed(pairs, 12, seed)) for seed, pairs in enumerate((ring, tree))]
    instances = [prepare_graph(data, "auto") for data in hung]
    model = make_net(conv, "mean")
    assert_same(model, [request for instance in instances for request in candidate_sets(instance)])
    node_model = make_net(conv, None)
    assert_same(node_model, candidate_sets(prepare_node(hung[1], 2, field_of(node_model))))


@given(data=graphs(), directed=st.booleans(), seed=st.integers(0, 99))
def test_random_graphs_of_few_kinds(data: Data, directed: bool, seed: int) -> None:
    instance = prepare_graph(plain(data), "directed" if directed else "auto")
    if instance.groups.count < 4:
        return
    torch.manual_seed(seed)
    assert_same(vivid(Residual()), candidate_sets(instance, seed))


@pytest.mark.parametrize("max_rows", [1, 40, 10_000])
def test_incremental_engine_any_budget_equals_the_batched_engine(
    max_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eigsearch.engines.incremental.budget._OVER_BASE", 1)
    torch.manual_seed(0)
    assert_same(make_net("GCN", "sum"), candidate_sets(prepare_graph(house(), "auto")), max_rows)


@pytest.mark.parametrize("pool", POOLS)
def test_incremental_engine_as_on_large_graphs_equals_the_batched_engine(
    pool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large graphs look rows up by binary search and carry sums from candidate to candidate."""
    monkeypatch.setattr(state_table, "_DENSE", 0)
    monkeypatch.setattr(pooling, "_PAIRS_PER_ROW", 0)
    torch.manual_seed(0)
    requests = candidate_sets(prepare_graph(house(), "auto"))
    assert_same(make_net("GIN", pool), requests)
    assert_same(make_net("GCN", pool), requests)


class Moody(nn.Module):
    """Decides by the number of all nodes of a batch."""

    def __init__(self) -> None:
        super().__init__()
        self.gnn, self.head = GIN(5, 8, 2), nn.Linear(8, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = self.gnn(x, edge_index)
        if x.size(0) > 10_000:
            x = -x
        return self.head(global_mean_pool(x, batch))


def test_evaluator_unknown_model_is_served_by_the_batched_engine() -> None:
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert eigsearch.explain(vivid(Moody()), house(), engine="incremental").engine == "batched"


def test_evaluator_operation_that_fails_on_states_is_left_to_the_batched_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: Any) -> None:
        raise IndexError("of whatever a layer does")

    monkeypatch.setattr(dispatch, "_rule", fail)
    ex = eigsearch.explain(make_net(), house(), engine="incremental")
    assert ex.engine == "batched"
    torch.testing.assert_close(
        ex.edge_score, eigsearch.explain(make_net(), house(), engine="batched").edge_score
    )


def test_evaluator_layer_that_minds_the_order_of_messages_is_served_by_the_batched_engine() -> None:
    """Where all nodes differ no two rows are united, so the check of one graph tells nothing."""
    model = make_net("Edge", "sum")
    for conv in model.convs:
        conv.aggr_module = vivid(MLPAggregation(WIDTH, WIDTH, max_num_elements=9, num_layers=1))
    data = house()
    data.edge_index = data.edge_index[:, data.edge_index[1].argsort(stable=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert eigsearch.explain(model, data, engine="incremental").engine == "batched"


@pytest.mark.parametrize("scheme", ["max", "std", ["mean", "min"]])
def test_layers_that_do_not_are_served(scheme: str | list[str]) -> None:
    model = make_net("Edge", "sum")
    width = WIDTH // 2 if isinstance(scheme, list) else WIDTH
    model.convs[1] = vivid(EdgeConv(nn.Linear(2 * WIDTH, width), aggr=scheme))
    instance = prepare_graph(house(), "undirected")
    assert_same(model, [Request(instance, Prefixes(torch.arange(9), [4, 9]))])


def test_evaluator_half_precision_is_served_by_the_batched_engine() -> None:
    torch.manual_seed(0)
    model, data = make_net("GIN", "mean").bfloat16(), house()
    data.x = data.x.bfloat16()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert eigsearch.explain(model, data, engine="incremental").engine == "batched"


HOOKS = {
    "message": lambda layer, inputs, output: 0.3 * output,
    "aggregate": lambda layer, inputs, output: 0.3 * output,
    "propagate": lambda layer, inputs, output: 0.3 * output,
    "edge_update": lambda layer, inputs, output: None,
    "message_and_aggregate": lambda layer, inputs, output: None,
}


@pytest.mark.parametrize("step", HOOKS)
def test_incremental_engine_hooks_inside_a_layer_count(step: str) -> None:
    torch.manual_seed(0)
    model, data = make_net("GIN", "mean"), house()
    before = eigsearch.explain(model, data, engine="incremental")
    layer = next(module for module in model.modules() if isinstance(module, MessagePassing))
    handle = getattr(layer, f"register_{step}_forward_hook")(HOOKS[step])
    found = eigsearch.explain(model, data, engine="incremental")
    expected = eigsearch.explain(model, data, engine="batched")
    assert found.engine == "incremental"
    torch.testing.assert_close(found.edge_score, expected.edge_score, rtol=1e-5, atol=1e-5)
    handle.remove()
    again = eigsearch.explain(model, data, engine="incremental")
    assert (again.engine, again.value) == ("incremental", before.value)


def test_incremental_engine_listener_before_a_message_hears_it() -> None:
    torch.manual_seed(0)
    model, heard = make_net("GIN", "mean"), []
    layer = next(module for module in model.modules() if isinstance(module, MessagePassing))
    layer.register_message_forward_pre_hook(lambda layer, inputs: heard.append(inputs))
    assert eigsearch.explain(model, house(), engine="incremental").engine == "incremental"
    assert heard


def test_evaluator_disagreement_of_engines_is_told_and_overruled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch.manual_seed(0)
    model, data = make_net("GIN", "mean"), house()
    expected = eigsearch.explain(model, data, engine="batched")
    right = IncrementalEngine.outputs

    def wrong(self: IncrementalEngine, requests: Sequence[Request]) -> list[Tensor]:
        return [rows + 1.0 * torch.arange(rows.size(1)) for rows in right(self, requests)]

    halves = IncrementalEngine.outputs_of_halves

    def wrong_halves(self: IncrementalEngine, request: Request, count: int) -> Tensor:
        rows = halves(self, request, count)
        return rows + 1.0 * torch.arange(rows.size(1))

    monkeypatch.setattr(IncrementalEngine, "outputs", wrong)
    monkeypatch.setattr(IncrementalEngine, "outputs_of_halves", wrong_halves)
    with pytest.warns(UserWarning, match="Expected both engines to agree"):
        found = eigsearch.explain(model, data, engine="incremental")
    assert found.engine == "batched"
    assert torch.equal(found.edge_mask, expected.edge_mask)


def test_incremental_engine_model_that_changed_is_run_as_it_is() -> None:
    torch.manual_seed(0)
    model, data = vivid(Residual()), house()
    first = eigsearch.explain(model, data, engine="incremental")
    model.pool = lambda x, batch: global_mean_pool(x, batch) * 2
    second = eigsearch.explain(model, data, engine="incremental")
    expected = eigsearch.explain(model, data, engine="batched")
    assert first.value != second.value
    torch.testing.assert_close(second.edge_score, expected.edge_score, atol=1e-5, rtol=1e-5)
