"""Wrong and hostile input gets one sentence, and nothing is written."""

from __future__ import annotations

import errno
import os
import pickle
import shutil
import sys
import warnings
from pathlib import Path

import pytest
import torch

from eigsearch.datasets import generate
from eigsearch.explainers import PGExplainer

BA = ("explain", "--dataset", "BA-2Motifs", "--model", "gin", "--index", "0:3")


class Bomb:
    """What a stranger could have pickled."""

    def __reduce__(self):
        return os.mkdir, ("exploded",)


@pytest.fixture(autouse=True)
def nothing_is_written(own: Path):
    before = sorted(path for path in own.rglob("*") if "__pycache__" not in path.parts)
    yield
    after = sorted(path for path in own.rglob("*") if "__pycache__" not in path.parts)
    assert [p for p in after if p not in before and p.name not in ("evil.pt", "net.pt")] == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--dataset", "BA-2Motif"), "Did you mean BA-2Motifs"),
        (("--dataset", "MUTAGE"), "MUTAG"),
        (("--dataset", "BA-2Motifs", "--model", "gim"), "gin"),
        (("--dataset", "BA-2Motifs", "--explainer", "gradcan"), "Did you mean gradcam"),
        (("--dataset", "BA-2Motifs", "--index", "5:1"), "at least one number from 0 to 999"),
        (("--dataset", "BA-2Motifs", "--index", "1000"), "from 0 to 999"),
        (("--dataset", "BA-2Motifs", "--index", "one"), "numbers and ranges"),
        (("--dataset", "BA-2Motifs", "--index", "::0"), "numbers and ranges"),
        (("--dataset", "BA-2Motifs", "--index", "1,1"), "each number once"),
        (("--dataset", "BA-2Motifs", "--index", ""), "numbers and ranges (got '')"),
        (("--dataset", "BA-2Motifs", "--index", "9" * 5000), "numbers and ranges"),
        (("--dataset", "BA-2Motifs", "--index", f"0:{'9' * 5000}"), "numbers and ranges"),
        (("--dataset", "BA-Shapes", "--node", "9" * 5000), "numbers and ranges"),
        (("--dataset", "BA-2Motifs", "--seed", "9" * 20), "from -2**62 to 2**62"),
        (("--dataset", "BA-2Motifs", "--model", ":Net"), "package.module:name"),
        (("--dataset", "BA-2Motifs", "--model", "..:Net"), "package.module:name"),
        (("--dataset", "BA-2Motifs", "--explainer", ":"), "package.module:name"),
        (("--dataset", "BA-2Motifs", "--device", "meta"), "torch can compute on here"),
        (
            ("--data", "mine.pt", "--model", "mynet:Net", "--model-args", "[" * 100_000),
            "a JSON object",
        ),
        (("--dataset", "BA-2Motifs", "--size", "5", "--search", "refine"), "--search or --size"),
        (("--dataset", "BA-2Motifs", "--num-gpus", "1"), "`num_gpus` together with `ray`"),
        (("--dataset", "BA-2Motifs", "--max-failures", "-1"), "0 or more (got -1)"),
        (("--dataset", "BA-2Motifs", "--node", "1"), "--index for BA-2Motifs"),
        (("--dataset", "Tree-Grid", "--model", "gin"), "--node for Tree-Grid"),
        (("--dataset", "BA-2Motifs", "--sparsity", "1.5"), "below 1"),
        (("--dataset", "BA-2Motifs", "--groups", "direct"), "Did you mean directed"),
        (("--dataset", "BA-2Motifs", "--search", "swep"), "fixed (got 'swep'). Choose"),
        (("--dataset", "BA-2Motifs", "--engine", "steam"), "auto"),
        (("--dataset", "BA-2Motifs", "--workers", "0"), "at least 1"),
        (("--dataset", "BA-2Motifs", "--model-args", "{}"), "a class of your own"),
        (("--data", "mine.pt"), "a class of your own for the graphs of mine (got gin,"),
        (("--data", "mine.pt", "--model", "mynet.py"), "or file.py:Class"),
        (("--data", "mine.pt", "--model", "mynet:ready"), "an object of the class Net). Name its"),
        (("--data", "mine.pt", "--model", "mynet:Net", "--node", "3"), "hold one graph, to"),
        (("--data", "mine.pt", "--model", "mynet:Net", "--link", "0,1"), "links of it (got 10)"),
        (("--data", "mine.pt", "--dataset", "MUTAG"), "either --dataset or --data"),
        ((), "either --dataset or --data"),
        (("--data", "nothing.pt", "--model", "mynet:Net"), "nothing.pt"),
        (("--data", "mynet.py", "--model", "mynet:Net"), "only PyG graphs"),
        (("--data", "mine.pt", "--model", "mynat:Net"), "can be imported"),
        (("--data", "mine.pt", "--model", "mynet:Nat"), "Did you mean Net"),
        (("--data", "mine.pt", "--model", "mynet:Net", "--model-args", "[1]"), "JSON object"),
        (("--data", "mine.pt", "--model", "mynet:Net", "--model-args", '{"no": 1}'), "mynet:Net"),
        (
            ("--data", "mine.pt", "--model", "mynet:Net", "--model-args", '{"hidden": -1}'),
            "mynet:Net to make a model (got RuntimeError: Trying to create tensor with negative",
        ),
        (("--data", "mine.pt", "--model", "mynet:Net", "--weights", "none.pt"), "none.pt"),
        (("--data", "mine.pt", "--model", "mynet:Net", "--weights", "mynet.py"), "weights"),
        (("--data", "mine.pt", "--model", "mynet:Net", "--weights", "mine.pt"), "weights"),
    ],
)
def test_explain_wrong_argument_is_refused_in_a_sentence(
    refused, arguments: tuple[str, ...], words: str
) -> None:
    assert words in refused("explain", *arguments, "--out", "out")


@pytest.mark.parametrize("name", ["../page.html", "/tmp/page.html", "rows/../../page.html"])
def test_a_page_that_leaves_the_directory(refused, name: str) -> None:
    assert "stay inside" in refused(*BA, "--out", "out", "--report", name)


def test_weights_that_would_run_code(refused, own: Path) -> None:
    (own / "evil.pt").write_bytes(pickle.dumps({"weight": Bomb()}))
    torch.save({"weight": Bomb()}, own / "net.pt")
    for weights in ("evil.pt", "net.pt"):
        command = ("explain", "--data", "mine.pt", "--model", "mynet:Net", "--weights", weights)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            answer = refused(*command, "--out", "out")
        assert "weights of this model" in answer
        assert "could run code" in answer


def test_data_that_would_run_code(refused, own: Path) -> None:
    torch.save([*generate("BA-2Motifs").graphs[:1], Bomb()], own / "evil.pt")
    command = ("explain", "--data", "evil.pt", "--model", "mynet:Net", "--out", "out")
    assert "run code" in refused(*command)


def test_a_file_that_only_calls_itself_safetensors(refused, own: Path) -> None:
    (own / "mine.pt").rename(own / "evil.pt")
    command = ("explain", "--dataset", "BA-2Motifs", "--model", "gin", "--weights", "evil.pt")
    assert "card" in refused(*command, "--out", "out")


def test_compare_graphs_or_nodes(refused) -> None:
    command = ("compare", "--dataset", "Tree-Grid", "--node", "511", "--index", "0")
    assert "got --index and --node" in refused(*command)


def test_a_run_without_an_explanation_names_only_what_stays(refused, own: Path) -> None:
    said = refused(*BA, "--target", "7")
    assert said.endswith("Mend the cause.\n")
    assert "the rows and their reasons are in out." in refused(*BA, "--target", "7", "--out", "out")
    shutil.rmtree(own / "out")


@pytest.mark.parametrize(
    ("path", "got"),
    [(".", "one without manifest.json"), ("mine.pt", "a file"), ("nodir", "nothing there")],
)
def test_view_of_something_else(refused, path: str, got: str) -> None:
    assert f"Expected {path} to be a directory of results (got {got})" in refused("view", path)


def test_data_that_are_no_graphs(refused, own: Path) -> None:
    torch.save([1, 2], own / "evil.pt")
    (own / "net.pt").write_text("a,b\n1,2\n")
    for name, got in (("evil.pt", "int"), ("net.pt", "something else")):
        said = refused("explain", "--data", name, "--model", "mynet:make", "--out", "out")
        assert f"(got {got}). Save a list of" in said


def test_weights_that_do_not_fit(refused, own: Path) -> None:
    import mynet  # type: ignore[import-not-found]

    torch.save(mynet.Net(hidden=4).state_dict(), own / "net.pt")
    command = ("explain", "--data", "mine.pt", "--model", "mynet:Net", "--weights", "net.pt")
    said = refused(*command, "--out", "out")
    assert "size mismatch for conv.nn.weight" in said
    assert "torch.Size([4, 10])" in said
    assert "--model-args" in said


def test_a_directory_of_someone_elses_files(refused) -> None:
    assert "to be empty or to hold results" in refused(*BA, "--out", ".")


@pytest.mark.parametrize(
    "command",
    [
        ("demo", "--out", "mine.pt/out"),
        ("bench", "smoke", "--out", "mine.pt/out"),
    ],
)
def test_a_path_that_the_system_refuses(refused, command: tuple[str, ...]) -> None:
    said = refused(*command)
    assert "mine.pt/out" in said
    assert os.strerror(errno.ENOTDIR) in said


@pytest.mark.parametrize("out", ["mine.pt", "mine.pt/models"])
@pytest.mark.parametrize(
    "command",
    [
        ("train", "--dataset", "BA-2Motifs", "--out"),
        (*BA, "--out"),
        ("compare", *BA[1:], "--report"),
    ],
)
def test_no_work_is_done_for_what_cannot_be_written(
    refused, command: tuple[str, ...], out: str, monkeypatch
) -> None:
    for work in ("models.train", "cli.explain_run.execute"):
        monkeypatch.setattr(f"eigsearch.{work}", lambda *_, **__: pytest.fail("worked in vain"))
    name = "/page.html" if command[0] == "compare" else ""
    assert "mine.pt). Choose another name" in refused(*command, out + name)


def test_no_work_is_done_where_the_system_refuses(refused, monkeypatch) -> None:
    def refuse(directory: str, mode: int) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), directory)

    monkeypatch.setattr("eigsearch.models.train", lambda *_, **__: pytest.fail("worked in vain"))
    monkeypatch.setattr(os, "mkdir", refuse)
    said = refused("train", "--dataset", "BA-2Motifs", "--out", "models")
    assert (
        f"models to be a path that can be read or written (got: {os.strerror(errno.EACCES)})"
        in said
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--search", "swep"), "sweep"),
        (("--engine", "steam"), "auto"),
        (("--report", "page.gif"), "ends in one of .html"),
        (("--workers", "0"), "at least 1"),
        (("--num-gpus", "1"), "together with `ray`"),
        (("--ray", "auto"), "the package `ray` to be installed"),
        (("--shard-size", "0"), "at least 1"),
        (("--max-failures", "-1"), "0 or more"),
        (("--out", "."), "to be empty or to hold results"),
    ],
)
def test_no_explainer_is_trained_for_a_run_that_cannot_be(
    refused, options: tuple[str, ...], words: str, monkeypatch
) -> None:
    monkeypatch.setattr(PGExplainer, "fit", lambda *_, **__: pytest.fail("trained"))
    monkeypatch.setitem(sys.modules, "ray", None)  # as where it is not installed
    assert words in refused(*BA, "--explainer", "pgexplainer", *options)


def test_the_page_of_a_comparison_is_html(refused) -> None:
    assert "to end in .html" in refused("compare", *BA[1:], "--report", "page.png")
