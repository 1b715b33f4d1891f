"""Links and typed graphs in the studio: every shown prediction is that of a plain call."""

import random
from functools import cache

import pytest
import torch

from eigsearch import datasets
from eigsearch.app.background import Background
from eigsearch.app.earlier_rows import EarlierRows
from eigsearch.app.edits import GraphEdits
from eigsearch.app.exports import snippet
from eigsearch.app.node_data import node_data
from eigsearch.app.page_data import answer_data
from eigsearch.app.session import EditedItem, Session
from eigsearch.errors import InputError
from eigsearch.models import zoo
from eigsearch.parallel import explain_to
from tests.app.sessions import serving

NETWORKS = {"SBM-Links": "common_neighbours", "Two-Ways": "hetero", "Typed-Motifs": "hetero"}
PAIR = (("user", 0), ("item", 1))


@cache
def loaded(name):
    return datasets.load(name), zoo.load(name, NETWORKS[name])[0].eval()


def open_session(name, tmp_path, **keywords):
    dataset, model = loaded(name)
    return Session(model, dataset, cache=tmp_path / "cache", **keywords)


def plain_scores(name, data, subject):
    """Class probabilities by a call of the model that knows nothing of the library."""
    model = loaded(name)[1]
    with torch.no_grad():
        if name == "SBM-Links":
            pair = torch.tensor(subject["link"])[:, None]
            output = model(data.x, data.edge_index, pair)
        elif name == "Two-Ways":
            pair = torch.tensor([end[1] for end in subject["link"]])[:, None]
            output = model(data.x_dict, data.edge_index_dict, pair)
        else:
            output = model(data.x_dict, data.edge_index_dict)[[subject["node"][1]]]
    return output.double().reshape(-1).softmax(0).tolist()


def random_edits(item, dice):
    """A few edits of each kind that fit what is drawn."""
    fixed = {item["nodes"][anchor] for anchor in item["anchors"]}
    keys = [tuple(map(int, key.split("."))) for key in item["keys"]]
    free = sorted(set(item["nodes"]) - fixed)
    return GraphEdits(
        removed_edges=frozenset(dice.sample(keys, min(len(keys), dice.randint(0, 3)))),
        removed_nodes=frozenset(dice.sample(free, dice.randint(0, 2))),
        zeroed_features=frozenset((node, 0) for node in dice.sample(item["nodes"], 1)),
    )


@pytest.mark.parametrize(("link", "label"), [((0, 2), 1), ((0, 1), 0), ((0, 20), None)])
def test_answer_tells_the_label_of_a_listed_link(tmp_path, link, label):
    session = open_session("SBM-Links", tmp_path)
    edited_item = EditedItem(link)
    answer = answer_data(session, edited_item, session.answer(edited_item))
    assert answer["item"]["truth"] == label
    session.close()


@pytest.mark.parametrize("link", [(0, 790), (-1, 0)])
def test_answer_for_a_link_to_no_node_is_refused_in_a_sentence(tmp_path, link):
    session = open_session("SBM-Links", tmp_path)
    with pytest.raises(InputError, match="nodes from 0 to"):
        session.answer(EditedItem(link))
    session.close()


@pytest.mark.parametrize(
    ("name", "named"), [("SBM-Links", (0, 30)), ("Two-Ways", PAIR), ("Typed-Motifs", ("center", 3))]
)
def test_answers_after_random_edits_equal_plain_calls(tmp_path, name, named):
    session, dice = open_session(name, tmp_path), random.Random(0)
    for item in (named, 5):
        drawn = answer_data(session, EditedItem(item), session.answer(EditedItem(item)))["item"]
        for _ in range(6):
            edited_item = EditedItem(item, random_edits(drawn, dice))
            answer = session.answer(edited_item)
            _, subject = session.edited(edited_item)
            expected = plain_scores(name, answer.graph.data, subject)
            assert answer.scores == pytest.approx(expected, abs=1e-6)
            assert answer.explanation.value == pytest.approx(
                expected[answer.explanation.target], abs=1e-6
            )
            shown = answer_data(session, edited_item, answer)["item"]
            assert (shown["x"], shown["anchors"]) == (drawn["x"], drawn["anchors"])
    session.close()


def test_link_that_is_no_row_is_explained_and_a_row_is_read_from_disk(tmp_path):
    session = open_session("SBM-Links", tmp_path, links=[(0, 1), (2, 3)])
    Background(session)._run()
    assert session.table.num_known == 2
    assert session.cached((2, 3)).link == (2, 3)
    assert session.cached((0, 30)) is None
    assert session.answer(EditedItem((0, 30))).explanation.link == (0, 30)
    assert session.label(0) == float(loaded("SBM-Links")[0][0].y[0])
    session.close()


def test_single_output_of_a_link_is_called_link_or_no_link(tmp_path):
    class Dot(torch.nn.Module):
        def forward(self, x, edge_index, edge_label_index):
            h = torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])
            return (h[edge_label_index[0]] * h[edge_label_index[1]]).sum(1) - 3

    graph = loaded("SBM-Links")[0][0]
    session = Session(Dot(), graph, links=[(0, 1)], cache=tmp_path / "cache")
    answer = session.answer(EditedItem(0))
    assert list(session.class_names) == ["no link", "link"]
    assert sum(answer.scores) == pytest.approx(1)
    session.close()


def test_walk_from_a_link_exchanges_the_end_of_the_same_type(tmp_path):
    session = open_session("Two-Ways", tmp_path)
    about = node_data(session, PAIR, "item:3")
    assert [each["address"] for each in about["explain"]] == [{"link": (PAIR[0], ("item", 3))}]
    assert node_data(session, PAIR, "attribute:0")["explain"] == []
    assert node_data(session, PAIR, "item:1")["explain"] == []
    with pytest.raises(InputError, match="type of a node"):
        node_data(session, PAIR, "film:1")
    session.close()


def test_snippet_of_a_link_repeats_what_is_shown(tmp_path):
    session = open_session("Two-Ways", tmp_path)
    session.origin = ("from tests.app.test_link_session import loaded",)
    key = answer_data(session, EditedItem(PAIR), session.answer(EditedItem(PAIR)))["item"]["keys"]
    edits = GraphEdits(removed_edges=frozenset({tuple(map(int, key[0].split(".")))}))
    for edited_item in (EditedItem(PAIR), EditedItem(PAIR, edits)):
        code = snippet(session, edited_item)
        assert "link=(('user', 0), ('item', 1))" in code
        names = {"graphs": loaded("Two-Ways")[0].graphs, "model": loaded("Two-Ways")[1]}
        exec(compile(code, "snippet", "exec"), names)
        shown = session.answer(edited_item).explanation
        assert names["explanation"].keep.tolist() == shown.keep.tolist()
    session.close()


@pytest.mark.parametrize(
    ("name", "item"), [("SBM-Links", 1), ("Two-Ways", PAIR), ("Typed-Motifs", ("center", 3))]
)
def test_flip_changes_the_prediction_of_a_plain_call(tmp_path, name, item):
    session = open_session(name, tmp_path)
    keys, note = session.flip(EditedItem(item))
    before = session.answer(EditedItem(item)).scores
    edited_item = EditedItem(item, GraphEdits(removed_edges=frozenset(keys)))
    graph, subject = session.edited(edited_item)
    after = plain_scores(name, graph.data, subject)
    assert keys or note
    assert (before[0] > before[1]) != (after[0] > after[1]) or not keys
    session.close()


@pytest.mark.parametrize(
    ("name", "subject"),
    [("SBM-Links", {"link": [(0, 1), (5, 30)]}), ("Typed-Motifs", {"node": [("center", 7)]})],
)
def test_results_of_links_and_typed_nodes_are_read_and_not_explained_again(tmp_path, name, subject):
    dataset, model = loaded(name)
    explain_to(tmp_path / "run", model, dataset[0], **subject)
    earlier = EarlierRows(tmp_path / "run")
    session = open_session(name, tmp_path, options=earlier.options(), earlier=earlier)
    Background(session)._read_earlier()
    (names,) = subject.values()
    assert session.table.num_known == len(names)
    assert all(session.cached(each) is not None for each in names)
    if session.level == "link":
        assert list(session.items.names) == names
    session.close()


def test_server_finds_and_answers_links_by_name(tmp_path):
    with serving(open_session("Two-Ways", tmp_path)) as client:
        assert client.post("api/find", {"text": "0,1"}) == {"link": [["user", 0], ["item", 1]]}
        answer = client.post("api/answer", {"link": [["user", 0], ["item", 1]]})
        assert answer["item"]["title"] == "Link user 0–item 1"
        assert len(answer["item"]["anchors"]) == 2
        assert set(answer["item"]["types"]) >= {"user", "item"}
        row = client.get("api/rows")["rows"][0]
        assert set(row["address"]) == {"link"}
        for wrong in ([["user", 0]], [["user", 10**9], ["item", 1]], "0,1", [[], []], None, 7,
                      [["<img src=x>", 0], ["item", 1]], {"a": 1}):  # fmt: skip
            assert client.post("api/answer", {"link": wrong})["error"].startswith("Expected")
        for wrong in ("film:1,item:2", "../../etc/passwd", "1", "9" * 500):
            answer = client.post("api/find", {"text": wrong})
            found = client.post("api/answer", answer) if "error" not in answer else answer
            assert "error" in found or wrong == "1"
