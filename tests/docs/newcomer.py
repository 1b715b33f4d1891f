"""What a newcomer wants to do, which page says how, and how to see that it worked."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eigsearch import SubgraphExplanation, store

Names = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """A task: the page and the heading that a newcomer follows, and what has to be there after."""

    want: str
    page: str
    heading: str
    check: Callable[[Names, Path], None]


TASKS: list[Task] = []


def task(want: str, page: str, heading: str) -> Callable[[Callable[[Names, Path], None]], None]:
    """Add a task; the decorated function gets the names and the directory that the page leaves."""
    return lambda check: TASKS.append(Task(want, page, heading, check))


def _picture(path: Path) -> None:
    assert path.stat().st_size > 3_000, path
    assert path.read_bytes()[:4] in (b"<?xm", b"<svg", b"\x89PNG"), path


def _page(path: Path, *words: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.lower().startswith("<!doctype html>")
    assert [word for word in words if word not in text] == []


@task("install", "index.md", "Install")
def _(names: Names, folder: Path) -> None:
    import eigsearch

    assert eigsearch.__version__


@task("explain a prediction", "index.md", "Explain a prediction")
def _(names: Names, folder: Path) -> None:
    assert isinstance(names["ex"], SubgraphExplanation)
    assert names["ex"].gain > 0.9


@task("read the result", "index.md", "Read the result")
def _(names: Names, folder: Path) -> None:
    ex, graph = names["ex"], names["graph"]
    assert ex.edge_mask.shape == graph.edge_label.shape
    assert (ex.edge_mask & graph.edge_label).sum() == graph.edge_label.sum()


@task("save a page, a picture and the explanation", "index.md", "Keep it")
def _(names: Names, folder: Path) -> None:
    _page(folder / "explanation.html", "Fidelity")
    _picture(folder / "explanation.svg")
    again = SubgraphExplanation.load(folder / "explanation.json", names["graph"])
    assert (again.edge_mask == names["ex"].edge_mask).all()


@task("explain many and look at them", "index.md", "Many predictions, from the command line")
def _(names: Names, folder: Path) -> None:
    assert store.summarize(folder / "results")["rows"] == 12
    _page(folder / "gallery.html", "Cycle-House-None")


@task("explain my own model", "tutorials/own-model.md", "Explain one")
def _(names: Names, folder: Path) -> None:
    ex, group = names["ex"], names["group"]
    assert ex.size == 3
    assert group.edge_attr[ex.edge_mask, 1].bool().all()


@task("say how my model is called", "how-to/unusual-forward.md",
      "My model is called in an unusual way. How do I say so?")  # fmt: skip
def _(names: Names, folder: Path) -> None:
    assert names["ex"].target == 2
    assert names["ex"].gain > 0.9


@task("name my classes", "tutorials/own-model.md", "Give things names")
def _(names: Names, folder: Path) -> None:
    _page(folder / "group.html", "suspicious")


@task("explain all of my graphs", "tutorials/own-model.md", "Explain all")
def _(names: Names, folder: Path) -> None:
    assert len(names["found"]) == 40
    _page(folder / "gallery.html", "suspicious")


@task("use my own model on the command line", "tutorials/own-model.md", "From the command line")
def _(names: Names, folder: Path) -> None:
    assert store.summarize(folder / "results")["rows"] == 10
    _picture(folder / "group.svg")


@task("explain one account", "tutorials/accounts.md", "Accounts in a large graph")
def _(names: Names, folder: Path) -> None:
    assert names["ex"].node == 401
    assert names["ex"].num_groups < names["graph"].num_edges // 2


@task("explain 200 accounts and open one", "tutorials/accounts.md",
      "As files, from the command line")  # fmt: skip
def _(names: Names, folder: Path) -> None:
    assert store.summarize(folder / "results")["rows"] == 200
    _page(folder / "account.html", "401")


@task("sort accounts in pandas", "tutorials/accounts.md", "As files, from the command line")
def _(names: Names, folder: Path) -> None:
    assert list(names["top"]["gain"]) == sorted(names["rows"]["gain"], reverse=True)


@task("explain a graph from a mapped file", "tutorials/accounts.md",
      "A graph that is larger than memory should hold twice")  # fmt: skip
def _(names: Names, folder: Path) -> None:
    assert [row["node"] for row in store.rows(folder / "large")] == [300, 301, 302, 303]


@task("find what would change a prediction", "tutorials/counterfactuals.md", "Counterfactuals")
def _(names: Names, folder: Path) -> None:
    assert names["answer"].flipped
    assert names["answer"].size == 1


@task("get another class by adding edges", "tutorials/counterfactuals.md",
      "To a class of your choice")  # fmt: skip
def _(names: Names, folder: Path) -> None:
    assert names["to_house"].prediction_after == 2
    assert names["to_house"].added.shape[1] > 0


@task("flip a data set into files", "counterfactuals.md", "What would change the prediction")
def _(names: Names, folder: Path) -> None:
    _page(folder / "flip.html")
    assert len(list((folder / "flips" / "rows").iterdir())) > 0


@task("compare explainers on one page", "tutorials/comparing.md", "One prediction")
def _(names: Names, folder: Path) -> None:
    assert names["found"]["eig_search"].gain > names["found"]["random"].gain
    _page(folder / "comparison.html", "eig_search", "random")


@task("score a mask of my own", "tutorials/comparing.md", "Your own mask")
def _(names: Names, folder: Path) -> None:
    assert names["claim"].edge_mask.equal(names["graph"].edge_label)


@task("run a plan and read its report", "tutorials/comparing.md", "A plan")
def _(names: Names, folder: Path) -> None:
    _page(folder / "bench" / "report" / "index.html", "Cycle-House-None", "Grad-CAM")


@task("explain on two processes", "tutorials/cluster.md", "On all cores")
def _(names: Names, folder: Path) -> None:
    assert store.summarize(folder / "results")["rows"] == 64


@task("run on workers from Python", "tutorials/cluster.md", "From Python")
def _(names: Names, folder: Path) -> None:
    assert names["first"] == names["again"] != []


@task("open the studio", "tutorials/studio.md", "The studio")
def _(names: Names, folder: Path) -> None:
    assert names["studio"].address.startswith("http://127.0.0.1:")


@task("ask why this class and not that one", "how-to/which-class.md",
      "Which class is explained? Why this one and not that one?")  # fmt: skip
def _(names: Names, folder: Path) -> None:
    assert names["other"].target == 1
    assert names["contrast"].config["rather_than"] == 1


@task("limit the size", "how-to/size.md",
      "How do I get a smaller, a larger or a fixed number of edges?")  # fmt: skip
def _(names: Names, folder: Path) -> None:
    assert names["exactly"].size == 6


@task("explain a regression", "how-to/regression.md", "Can I explain a regression?")
def _(names: Names, folder: Path) -> None:
    assert names["ex"].config["task"] == "regression"


@task("see which features matter", "how-to/node-features.md", "Which node features matter?")
def _(names: Names, folder: Path) -> None:
    assert names["ex"].feature_score.abs().argmax() == 4


@task("draw on axes of my own", "how-to/draw.md", "How do I draw it, with labels and colours?")
def _(names: Names, folder: Path) -> None:
    _picture(folder / "figure.png")
    _page(folder / "page.html", "house")


@task("keep within a memory budget", "how-to/memory.md", "I run out of memory. What can I do?")
def _(names: Names, folder: Path) -> None:
    assert names["small"].config["max_memory"] == 20_000_000


@task("use it in PyG's Explainer", "how-to/pyg-explainer.md",
      "Can I use it inside PyG's Explainer?")  # fmt: skip
def _(names: Names, folder: Path) -> None:
    assert names["ours"].edge_mask.any()


@task("explain a chemprop model", "how-to/chemprop.md", "How do I explain a chemprop 2 model?")
def _(names: Names, folder: Path) -> None:
    assert [each.data.smiles for each in names["found"]][1] == "c1ccccc1[N+](=O)[O-]"
    _picture(folder / "aspirin.svg")


@task("read rows in pandas", "how-to-read-results.md", "In pandas")
def _(names: Names, folder: Path) -> None:
    assert names["edges"]["edge_mask"].any()
    manifest = json.loads((folder / "results" / "manifest.json").read_text())
    assert manifest["config"]["model_name"] == "gin"


@task("explain a CSV of molecules", "tutorials/molecules.md", "Explain")
def _(names: Names, folder: Path) -> None:
    rows = list(store.rows(folder / "results"))
    assert [row["name"] for row in rows[:2]] == ["C-000", "C-001"]
    _picture(folder / "C-003.svg")
    _page(folder / "gallery.html", "toxic", "C-003")


@task("list recurring substructures and make a figure", "tutorials/molecules.md",
      "What recurs, and figures")  # fmt: skip
def _(names: Names, folder: Path) -> None:
    assert len(names["motifs"]) > 0
    assert (folder / "figure.pdf").read_bytes().startswith(b"%PDF")
    assert "C-003" in (folder / "summary.csv").read_text()


@task("find a functional group again", "tutorials/molecules.md", "In Python")
def _(names: Names, folder: Path) -> None:
    assert names["hits"] == len(names["toxic"]) == 48


@task("explain a link", "tutorials/links-and-types.md", "A link")
def _(names: Names, folder: Path) -> None:
    assert [each.link for each in names["found"]] == list(map(tuple, names["pairs"].t().tolist()))


@task("explain a typed graph", "tutorials/links-and-types.md", "A node of a typed graph")
def _(names: Names, folder: Path) -> None:
    scores = names["scores"]
    assert scores["a", "to", "x"] > scores["a", "to", "y"]
    assert scores["b", "to", "y"] > scores["b", "to", "x"]


@task("see which relation a link rests on", "tutorials/links-and-types.md",
      "A link of a typed graph")  # fmt: skip
def _(names: Names, folder: Path) -> None:
    assert names["kinds"] == {"praises": 2, "views": 2}


@task("add a ranker of my own", "bring-your-own.md", "An explainer")
def _(names: Names, folder: Path) -> None:
    import eigsearch

    found = eigsearch.explain(names["model"], names["graph"], ranker=names["by_degree"])
    assert found.edge_score.equal(names["by_degree"](None, names["graph"], 0, None).double())


@task("hand a table and pages to the team", "tutorials/accounts.md",
      "A table for the team, a page for each account")  # fmt: skip
def _(names: Names, folder: Path) -> None:
    assert len(names["summary"]) == 200
    assert len(list((folder / "pages").glob("*.html"))) >= 10


@task("open an explanation in Gephi and Cytoscape", "how-to/export.md",
      "How do I get it into networkx, Gephi or Cytoscape?")  # fmt: skip
def _(names: Names, folder: Path) -> None:
    import networkx as nx

    assert nx.read_graphml(folder / "explanation.graphml").number_of_nodes() == 25
    assert "elements" in json.loads((folder / "explanation.cyjs").read_text())


@task("paint a molecule", "how-to/molecule-pictures.md",
      "How do I paint the important atoms and bonds of a molecule?")  # fmt: skip
def _(names: Names, folder: Path) -> None:
    _picture(folder / "aspirin.svg")
    assert (folder / "figure.pdf").read_bytes().startswith(b"%PDF")


@task("run a plan with parts of my own", "bring-your-own.md",
      "A data set, a network, a metric, and a plan with all of them")  # fmt: skip
def _(names: Names, folder: Path) -> None:
    _page(folder / "mixed" / "report" / "index.html", "Noisy", "few_houses", "edges_per_node")


@task("explain a link on the command line", "tutorials/links-and-types.md",
      "From the command line")  # fmt: skip
def _(names: Names, folder: Path) -> None:
    assert store.summarize(folder / "results")["rows"] == 1
    _page(folder / "results.html", "Two-Ways")
