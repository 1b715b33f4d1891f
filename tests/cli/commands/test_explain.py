"""`eigsearch explain`, as a user runs it, and what it wrote."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import torch
from safetensors.torch import save_file
from torch_geometric.data import Data, HeteroData

from eigsearch import store
from eigsearch.cli.explain_run import summarize_run
from eigsearch.cli.loading import load_data
from eigsearch.datasets import generate
from eigsearch.datasets import load_file as load_graphs
from eigsearch.datasets import save_file as save_graphs
from eigsearch.explainers import Occlusion
from eigsearch.parallel import MappedSource

NODE_MODULE = "from torch_geometric.nn import GCN\ndef make():\n    return GCN(10, 4, 2, 2)\n"
SHOP_MODULE = """
import torch
from torch_geometric.nn import SAGEConv

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = SAGEConv((3, 3), 3)

    def forward(self, x_dict, edge_index_dict, edge_label_index):
        pair = x_dict["item"], x_dict["user"]
        h = self.conv(pair, edge_index_dict["item", "rev_buys", "user"])
        return (h[edge_label_index[0]] * x_dict["item"][edge_label_index[1]]).sum(-1)
"""

BA = ("explain", "--dataset", "BA-2Motifs", "--model", "gin")


def test_rows_configuration_and_page(run, tmp_path: Path) -> None:
    out = tmp_path / "results"
    result = run(*BA, "--index", "495:505", "--out", out, "--report", "page.html")
    frame = pd.read_parquet(out / "rows")
    assert frame["index"].tolist() == list(range(495, 505))
    assert frame["error"].isna().all()
    lines = (out / "jsonl" / "000000.jsonl").read_text().splitlines()
    assert [json.loads(line)["gain"] for line in lines] == frame["gain"].tolist()
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["config"]["options"]["sparsity"] == 0.5
    assert manifest["config"]["seed"] == 0
    assert set(manifest["versions"]) == {"eigsearch", "torch", "torch_geometric"}
    assert set(manifest["config"]["model"]) == {"code", "settings", "weights"}
    digests = {*manifest["config"]["model"].values(), manifest["config"]["data"]}
    assert {len(digest) for digest in digests} == {64}
    assert "<html" in (out / "page.html").read_text()
    assert "house" in result.stdout
    assert "AUC" in result.stdout
    assert "\x1b" not in result.stdout


def test_rows_read_back_as_explanations(run, tmp_path: Path) -> None:
    run(*BA, "--index", "::250", "--out", tmp_path / "results")
    graphs = generate("BA-2Motifs").graphs
    found = list(store.read(tmp_path / "results", graphs))
    assert [e.data is graphs[i] for i, e in zip(range(0, 1000, 250), found, strict=True)] == [1] * 4
    assert all(e.edge_mask.numel() == e.data.num_edges for e in found)
    assert found[0].config["versions"]["torch"] == torch.__version__


def test_explain_with_json_prints_one_document(run_json, tmp_path: Path) -> None:
    found = run_json(*BA, "--index", "0,500", "--sparsity", "0.8")
    assert found["rows"] == 2
    assert found["failures"] == 0
    assert found["sparsity"] >= 0.76
    assert 0.9 <= found["auc"] <= 1
    assert found["out"] is None


def test_own_graphs_own_model_own_weights(run_json, own: Path) -> None:
    import mynet  # type: ignore[import-not-found]

    network = mynet.Net(hidden=4)
    save_file(network.state_dict(), own / "net.safetensors")
    torch.save(network.state_dict(), own / "net.pt")
    command = ("explain", "--data", "mine.pt", "--model", "mynet:Net", "--model-args")
    found = [
        run_json(*command, '{"hidden": 4}', "--weights", weights, "--out", f"out-{weights}")
        for weights in ("net.safetensors", "net.pt")
    ]
    assert found[0]["gain"] == found[1]["gain"]
    assert [e.target for e in store.read(own / "out-net.pt")] == [
        int(network(d.x, d.edge_index, torch.zeros(25, dtype=torch.long)).argmax())
        for d in generate("BA-2Motifs").graphs[495:505]
    ]


def test_nodes_of_a_node_set(run, own: Path) -> None:
    (own / "nodenet.py").write_text(NODE_MODULE)
    run("explain", "--dataset", "Tree-Grid", "--model", "nodenet:make", "--node", "511:515,520",
        "--out", "out")  # fmt: skip
    rows = list(store.rows(own / "out"))
    assert [row["node"] for row in rows] == [511, 512, 513, 514, 520]
    assert all(len(row["edge_id"]) == len(row["edge_mask"]) < 3130 for row in rows)
    printed = run("view", "out").stdout
    assert "node" in printed.split("explanation")[0]
    assert "520" in printed


def test_view_shows_nodes_by_their_number(run, run_json, refused, own: Path) -> None:
    (own / "nodenet.py").write_text(NODE_MODULE)
    run("explain", "--dataset", "Tree-Grid", "--model", "nodenet:make", "--node", "511:515,520",
        "--out", "out")  # fmt: skip
    rows = run_json("view", "out", "--node", "513:")["rows"]
    assert [row["node"] for row in rows] == [513, 514, 520]
    assert "among 511, 512, 513, 514, 520 (got 516)" in refused("view", "out", "--node", "516")
    assert "about nodes (got --index)" in refused("view", "out", "--index", "0")


def test_view_of_an_unfinished_run_says_how_many_rows_are_missing(run, tmp_path: Path) -> None:
    run(*BA, "--index", "0:6", "--shard-size", "2", "--out", tmp_path / "out")
    assert run("view", tmp_path / "out").stderr == ""
    (tmp_path / "out" / "rows" / "000001.parquet").unlink()
    assert "Note: 4 of 6 rows are there" in run("view", tmp_path / "out").stderr


def test_the_same_command_goes_on_and_another_is_refused(run, refused, tmp_path: Path) -> None:
    command = (*BA, "--index", "0:64", "--out", tmp_path / "out", "--shard-size", "16")
    run(*command)
    rows = sorted((tmp_path / "out" / "rows").iterdir())
    whole = [file.read_bytes() for file in rows]
    rows[2].unlink()
    run(*command, "--workers", "1")
    assert [file.read_bytes() for file in rows] == whole
    assert "sparsity" in refused(*command, "--sparsity", "0.9")
    assert [file.read_bytes() for file in rows] == whole


def test_explain_resumed_with_other_model_args_and_the_same_weights_is_refused(
    run, refused, own: Path
) -> None:
    (own / "dials.py").write_text(
        "import mynet\n"
        "class Net(mynet.Net):\n"
        "    def __init__(self, loud=1.0):\n"
        "        super().__init__()\n"
        "        self.forward_scale = lambda: loud\n"
        "    def forward(self, x, edge_index, batch):\n"
        "        return self.forward_scale() * super().forward(x, edge_index, batch)\n"
    )
    import mynet

    save_file(mynet.Net().state_dict(), own / "net.safetensors")
    run_it = ("explain", "--data", "mine.pt", "--model", "dials:Net", "--out", "out")
    command = (*run_it, "--weights", "net.safetensors")
    run(*command, "--model-args", '{"loud": 1.0}')
    run(*command, "--model-args", '{"loud": 1.0}')
    assert "model_args.loud was 1.0, now it is 3.0" in refused(
        *command, "--model-args", '{"loud": 3.0}'
    )
    (own / "dials.py").write_text((own / "dials.py").read_text() + "# another file\n")
    assert "the file that defines the model" in refused(*command, "--model-args", '{"loud": 1.0}')


def test_explain_resumed_on_a_changed_file_of_graphs_is_refused(run, refused, own: Path) -> None:
    graphs = [graph.clone() for graph in generate("BA-2Motifs").graphs[:160]]
    save_graphs(graphs, own / "many.safetensors")
    command = ("explain", "--data", "many.safetensors", "--model", "mynet:make", "--out", "out")
    run(*command, "--index", "0:4")
    for number, graph in enumerate(graphs):
        if number % 5 not in (0, 2):  # 96 of 160, of which a sample of 64 would see none
            graph.x += 1
    save_graphs(graphs, own / "many.safetensors")
    assert "the data have another content" in refused(*command, "--index", "0:4")


def test_an_explainer_is_trained_before_a_run_goes_on_and_not_for_another(
    run, refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Occlusion, "card", replace(Occlusion.card, trains=True))
    trained = []
    monkeypatch.setattr(Occlusion, "fit", lambda self, *_, **__: trained.append(self))
    command = (*BA, "--index", "0:2", "--explainer", "occlusion", "--out", tmp_path / "out")
    run(*command)
    run(*command)
    assert len(trained) == 2
    assert "seed was 0, now it is 1" in refused(*command, "--seed", "1")
    assert len(trained) == 2


@pytest.mark.parametrize(("name", "told"), [("mynet:Net", True), ("mynet:make", False)])
def test_weights_that_a_class_starts_with_are_remarked_on(run, own: Path, name, told) -> None:
    result = run("explain", "--data", "mine.pt", "--model", name, "--index", "0")
    assert ("got no --weights" in result.stderr) == told


def test_a_graph_that_cannot_be_explained_is_a_row(run, own: Path) -> None:
    graphs = [*generate("BA-2Motifs").graphs[:3]]
    graphs.insert(1, Data(x=torch.full((2, 10), torch.nan), edge_index=torch.tensor([[0], [1]])))
    save_graphs(graphs, own / "odd.pt")
    result = run("explain", "--data", "odd.pt", "--model", "mynet:make", "--out", "out")
    errors = [row["error"] for row in store.rows(own / "out")]
    assert [error is None for error in errors] == [True, False, True, True]
    assert "NaN or infinite" in result.stdout.replace("\n", " ")


def test_a_fixed_size_needs_no_search(run_json) -> None:
    assert run_json(*BA, "--index", "0:4", "--size", "6")["size"] == 6


def test_a_network_that_was_trained_here(run, run_json, tmp_path: Path) -> None:
    weights = tmp_path / "models" / "BA-2Motifs-gcn.safetensors"
    run("train", "--dataset", "BA-2Motifs", "--model", "gcn", "--epochs", "1",
        "--out", tmp_path / "models")  # fmt: skip
    found = run_json("explain", "--dataset", "BA-2Motifs", "--weights", weights, "--index", "0:2")
    assert found["rows"] == 2


@pytest.mark.parametrize("wrong", [0, 1])
def test_molecules_of_a_parquet_file(run, own: Path, wrong: int) -> None:
    (own / "atoms.py").write_text(
        "import torch\n"
        "class Net(torch.nn.Module):\n"
        "    def forward(self, x, edge_index, batch):\n"
        "        ends = torch.bincount(batch[edge_index[0]], minlength=int(batch.max()) + 1)\n"
        "        return torch.stack([ends, -ends], dim=1) / 10\n"
    )
    smiles = ["CCO", "c1ccccc1N"]
    smiles.insert(wrong, "[bold]no molecule[/bold]")
    pd.DataFrame({"smiles": smiles}).to_parquet(own / "library.parquet")
    result = run("explain", "--data", "library.parquet", "--model", "atoms:Net", "--out", "out")
    rows = list(store.rows(own / "out"))
    assert [row["name"] for row in rows if row["error"] is None] == ["CCO", "c1ccccc1N"]
    assert rows[wrong]["name"] is None
    assert "[bold]no molecule[/bold]" in result.stdout


@pytest.mark.parametrize("name", ["files", "mapped", "many.safetensors"])
def test_explain_graphs_of_files_gives_the_same_rows(name: str, run, own: Path) -> None:
    graphs = load_graphs(own / "mine.pt")
    save_graphs(graphs, own / "many.safetensors")
    for directory, suffix in (("files", "pt"), ("mapped", "safetensors")):
        (own / directory).mkdir()
        save_graphs(graphs.graphs[:4], own / directory / f"0.{suffix}")
        save_graphs(graphs.graphs[4:], own / directory / f"1.{suffix}")
    run("explain", "--data", name, "--model", "mynet:make", "--index", "3:5", "--out", "out")
    run("explain", "--data", "mine.pt", "--model", "mynet:make", "--index", "3:5", "--out", "pt")
    rows, expected = (list(store.rows(own / out)) for out in ("out", "pt"))
    assert [row["index"] for row in rows] == [3, 4]
    assert [row["edge_mask"] for row in rows] == [row["edge_mask"] for row in expected]


def test_ground_truth_is_read_of_what_was_explained(run, own: Path, monkeypatch) -> None:
    save_graphs(load_graphs(own / "mine.pt"), own / "many.safetensors")
    run("explain", "--data", "many.safetensors", "--model", "mynet:make", "--index", "3:5",
        "--out", "out")  # fmt: skip
    source, read = load_data(None, Path("many.safetensors"), None), []
    one = MappedSource.__getitem__
    monkeypatch.setattr(MappedSource, "__getitem__", lambda self, n: read.append(n) or one(self, n))
    assert 0 <= summarize_run(own / "out", source)["recall"] <= 1
    assert read == [3, 4]


def test_nodes_of_one_mapped_graph(run, own: Path) -> None:
    (own / "nodenet.py").write_text(NODE_MODULE)
    save_graphs([generate("Tree-Grid")[0]], own / "graph.safetensors")
    run("explain", "--data", "graph.safetensors", "--model", "nodenet:make", "--node", "511,512",
        "--out", "out")  # fmt: skip
    assert [row["node"] for row in store.rows(own / "out")] == [511, 512]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda state: {"model_state_dict": state, "epoch": 3, "loss": 0.1},
        lambda state: {"state_dict": {f"model.{k}": v for k, v in state.items()}, "epoch": 1},
        lambda state: {"state_dict": state},
        lambda state: {f"module.{k}": v for k, v in state.items()},
        lambda state: {f"_orig_mod.{k}": v for k, v in state.items()},
    ],
)
def test_explain_takes_checkpoints_of_the_usual_shapes(run_json, own: Path, wrap) -> None:
    import mynet

    network = mynet.Net()
    torch.nn.init.ones_(network.head.weight)
    torch.save(network.state_dict(), own / "bare.pt")
    torch.save(wrap(network.state_dict()), own / "checkpoint.pt")
    command = ("explain", "--data", "mine.pt", "--model", "mynet:Net", "--index", "0:3")
    found = [run_json(*command, "--weights", name) for name in ("bare.pt", "checkpoint.pt")]
    assert all(summary.pop("seconds") > 0 for summary in found)
    assert found[0] == found[1]


def test_explain_takes_a_model_by_the_path_of_its_file(run_json, refused, own: Path) -> None:
    (own / "deep").mkdir()
    (own / "deep" / "newnet.py").write_text((own / "mynet.py").read_text())
    command = ("explain", "--data", "mine.pt", "--index", "0:3", "--model")
    by_path = run_json(*command, "deep/newnet.py:make", "--workers", "2", "--shard-size", "1")
    assert by_path["gain"] == run_json(*command, "mynet:make", "--shard-size", "1")["gain"]
    (own / "deep" / "json.py").write_text((own / "mynet.py").read_text())
    assert "Rename the file" in refused(*command, "deep/json.py:make")


def test_explain_computes_on_the_device_that_is_named(run_json, refused, own: Path) -> None:
    command = ("explain", "--data", "mine.pt", "--model", "mynet:make", "--index", "0:2")
    assert run_json(*command, "--device", "cpu", "--out", "out")["rows"] == 2
    assert json.loads((own / "out" / "manifest.json").read_text())["config"]["device"] == "cpu"
    assert "Expected --device to be one" in refused(*command, "--device", "toaster")


def test_explain_link_of_a_typed_set_prints_both_ends(run) -> None:
    found = run("explain", "--dataset", "Two-Ways", "--model", "hetero", "--link", "user:0,item:4")
    assert "user 0–item 4" in found.stdout
    assert "called as" in found.stdout.lower()


def test_explain_links_of_a_typed_graph_of_the_user(run, own: Path) -> None:
    (own / "shopnet.py").write_text(SHOP_MODULE)
    data = HeteroData(user={"x": torch.eye(3)}, item={"x": torch.eye(3)})
    data["user", "buys", "item"].edge_index = torch.tensor([[0, 0, 1, 2], [0, 1, 1, 2]])
    data["item", "rev_buys", "user"].edge_index = torch.tensor([[0, 1, 1, 2], [0, 0, 1, 2]])
    torch.save(data, own / "shop.pt")
    (own / "links.txt").write_text("user:0,item:1\n2,2\nuser:1,item:0\n")
    command = ("explain", "--data", "shop.pt", "--model", "shopnet:Net")
    assert "user 0–item 1" in run(*command, "--link", "user:0,item:1").stdout
    data["user", "buys", "item"].edge_label_index = torch.tensor([[0], [1]])
    torch.save(data, own / "shop.pt")
    run(*command, "--links", "links.txt", "--out", "out")
    found = [ex.link for ex in store.read(own / "out", [data])]
    assert found == [
        (("user", 0), ("item", 1)), (("user", 2), ("item", 2)), (("user", 1), ("item", 0))
    ]  # fmt: skip


def test_view_shows_a_link_by_its_ends(run, run_json, refused, own: Path) -> None:
    run("explain", "--dataset", "Two-Ways", "--model", "hetero", "--index", "0:6", "--out", "out")
    for text in ("user:2,item:16", "2,16"):
        assert [row["link"] for row in run_json("view", "out", "--link", text)["rows"]] == [[2, 16]]
    run("view", "out", "--link", "user:2,item:16", "--out", "link.html")
    assert "user 2" in (own / "link.html").read_text()
    assert "among user 0–item 0, user 1–item 8" in refused(
        "view", "out", "--link", "item:2,user:16"
    )
    assert "about links (got --index)" in refused("view", "out", "--index", "0")


def test_view_shows_typed_nodes_by_type_and_number(run, run_json, refused, own: Path) -> None:
    command = ("explain", "--dataset", "Typed-Motifs", "--model", "hetero", "--node", "0:4")
    run(*command, "--out", "out")
    for text in ("center:1,center:3", "1,3"):
        assert [row["node"] for row in run_json("view", "out", "--node", text)["rows"]] == [1, 3]
    assert "center 3 (got center:9)" in refused("view", "out", "--node", "center:1,center:9")
    assert "about nodes (got --link)" in refused("view", "out", "--link", "1,3")
