"""Ray gives the rows of one process, on a real cluster of two nodes, whatever happens to it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from eigsearch import explain_dataset, flip_dataset
from eigsearch.bench import run_plan
from eigsearch.bench.plan import parse_plan
from eigsearch.bench.rows.results import Results
from eigsearch.counterfactual.options import FlipOptions
from eigsearch.datasets import generate
from eigsearch.errors import EigsearchError, InputError
from eigsearch.models import zoo
from eigsearch.options import Options
from eigsearch.parallel import Progress, explain_to, perform
from tests.cli.killing import SHARDS, content, finish, kill_after, stop, written
from tests.parallel.networks import Choosy, Slow
from tests.parallel.test_process_pool import Tell
from tests.parallel.test_run_to_directory import broken, row_bytes
from tests.properties.test_links import LinkNet as PlainNet
from tests.properties.test_links import graph as plain_graph
from tests.typed_nets import GraphNet, LinkNet, make, shop

ray = pytest.importorskip("ray")
cluster_utils = pytest.importorskip("ray.cluster_utils")

PAIRS = torch.tensor([[0, 3, 1], [2, 4, 1]])
# A dead node is found out after a second instead of ten.
QUICK = {"health_check_period_ms": 200, "health_check_failure_threshold": 5}


@pytest.fixture(scope="module")
def cluster() -> Iterator[object]:
    two = cluster_utils.Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "_system_config": QUICK}
    )
    two.spare = two.add_node(num_cpus=1)
    yield two
    ray.shutdown()  # a driver that is still connected would keep the cluster from ending
    two.shutdown()


def test_rows_are_those_of_one_process(cluster, tmp_path: Path) -> None:
    graphs = broken(3) * 2
    explain_to(tmp_path / "one", Choosy(), graphs, shard_size=3)
    end = explain_to(tmp_path / "ray", Choosy(), graphs, shard_size=3, ray=cluster.address)
    assert (end.done, end.failures) == (20, 2)
    assert row_bytes(tmp_path / "one") == row_bytes(tmp_path / "ray")


def test_rows_of_features_are_those_of_one_process(cluster, tmp_path: Path) -> None:
    graphs, options = generate("BA-2Motifs").graphs[:4], Options(features="columns")
    model, _ = zoo.load("BA-2Motifs", "gin")
    for name, address in {"one": None, "ray": cluster.address}.items():
        explain_to(tmp_path / name, model, graphs, options=options, shard_size=2, ray=address)
    assert row_bytes(tmp_path / "one") == row_bytes(tmp_path / "ray")


def test_counterfactuals_are_those_of_one_process(cluster, tmp_path: Path) -> None:
    graphs = list(generate("BA-2Motifs").graphs[498:502])
    model, _ = zoo.load("BA-2Motifs", "gin")
    wanted = {"add": True, "answers": 2, "max_size": 2}
    here = flip_dataset(model, graphs, progress=False, **wanted)
    there = flip_dataset(model, graphs, progress=False, ray=cluster.address, **wanted)
    for one, other in zip(here, there, strict=True):
        assert [each.sentence() for each in one] == [each.sentence() for each in other]
    for name, address in {"one": None, "ray": cluster.address}.items():
        explain_to(tmp_path / name, model, graphs, ray=address, flip=FlipOptions(**wanted))
    assert row_bytes(tmp_path / "one") == row_bytes(tmp_path / "ray")


def test_contrastive_rows_are_those_of_one_process(cluster, tmp_path: Path) -> None:
    graphs, model = list(generate("BA-2Motifs").graphs[498:502]), zoo.load("BA-2Motifs", "gin")[0]
    options = Options(rather_than=1, search="refine", connected=True, max_size=4)
    for name, address in {"one": None, "ray": cluster.address}.items():
        where = {"shard_size": 2, "ray": address, "target": 0}
        explain_to(tmp_path / name, model, graphs, options=options, **where)
    assert row_bytes(tmp_path / "one") == row_bytes(tmp_path / "ray")


ASKED = {
    "link": lambda: (PlainNet(), plain_graph(), {"link": torch.tensor([[0, 3, 8], [5, 3, 1]])}),
    "typed link": lambda: (make(LinkNet, "HGT"), shop(), {"link": (("user", "item"), PAIRS)}),
}


@pytest.mark.parametrize("kind", ASKED)
def test_rows_of_links_are_those_of_one_process(cluster, tmp_path: Path, kind: str) -> None:
    model, data, which = ASKED[kind]()
    for name, address in {"one": None, "ray": cluster.address}.items():
        end = explain_to(tmp_path / name, model, data, shard_size=2, ray=address, **which)
        assert (end.failures, end.done) == (0, 3)
    assert row_bytes(tmp_path / "one") == row_bytes(tmp_path / "ray")


def test_typed_graphs_are_those_of_one_process(cluster) -> None:
    model, graphs = make(GraphNet, "HeteroConv GAT"), [shop(0), shop(1)]
    found = list(explain_dataset(model, graphs, ray=cluster.address))
    alone = list(explain_dataset(model, graphs))
    assert [str(ex.edge_mask) for ex in found] == [str(ex.edge_mask) for ex in alone]
    assert [ex.sentence() for ex in found] == [ex.sentence() for ex in alone]


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nonsense", "http://x", "127.0.0.1:99999"])
def test_on_ray_address_without_a_cluster_is_told_in_a_sentence(address: str) -> None:
    with pytest.raises(InputError, match=f"Expected '{address}' to be the address of a Ray"):
        list(perform(Tell(), range(3), ray=address))


def test_a_job_that_cannot_start_says_why(cluster) -> None:
    with pytest.raises(EigsearchError, match=r"Expected something else\."):
        list(perform(Tell(refuse=True), range(3), ray=cluster.address))


PLAN = """
[[section]]
name = "chance"
settings = ["BA-2Motifs/gin"]
explainers = ["random", "degree"]
sample = 2
"""


def test_the_runs_of_a_plan_are_those_of_one_process(cluster, tmp_path: Path) -> None:
    plan, places = parse_plan(PLAN, "mine"), {"one": None, "ray": cluster.address}
    found = []
    for name, address in places.items():
        assert [now.total for now in run_plan(plan, tmp_path / name, ray=address)] == [2, 2]
        rows = Results(tmp_path / name).read().to_pylist()
        found.append(sorted((r["explainer"], r["graph"], r["keep"], r["gain"]) for r in rows))
    assert found[0] == found[1]
    assert len(found[0]) == 4


def test_a_killed_driver_continues(cluster, tmp_path: Path) -> None:
    finish(tmp_path / "calm")
    kill_after(tmp_path / "out", 3, 0.01, "--ray", cluster.address)
    assert 3 <= written(tmp_path / "out") < SHARDS
    finish(tmp_path / "out", "--ray", cluster.address)
    assert content(tmp_path / "out") == content(tmp_path / "calm")


def test_a_driver_told_to_stop_ends_as_without_ray(cluster, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert (
        stop(out, signal.SIGTERM, "--ray", cluster.address, "--index", "400:412")
        == 128 + signal.SIGTERM
    )
    assert "SIGTERM received" not in out.with_suffix(".log").read_text()  # by Ray's own handler
    assert written(out) == 2


def test_a_node_killed_without_grace_loses_no_row(cluster, tmp_path: Path) -> None:
    graphs = generate("BA-2Motifs").graphs[440:560]
    explain_to(tmp_path / "calm", Slow(), graphs, shard_size=4)
    killed = []

    def kill_at_a_third(now: Progress) -> None:
        if 3 * now.done >= now.total and not killed:
            killed.append(now.done)
            cluster.remove_node(cluster.spare, allow_graceful=False)

    where = {"ray": cluster.address, "progress": kill_at_a_third}
    end = explain_to(tmp_path / "wild", Slow(), graphs, shard_size=4, **where)
    assert 0 < killed[0] < end.done == end.total == 120
    assert row_bytes(tmp_path / "wild") == row_bytes(tmp_path / "calm")
