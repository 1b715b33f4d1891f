import random
import threading

import pytest
import torch
from torch_geometric.data import Data, OnDiskDataset

from eigsearch import datasets, store
from eigsearch.app.background import Background
from eigsearch.app.edits import GraphEdits
from eigsearch.app.row_cache import SHARD_SIZE
from eigsearch.app.session import EditedItem, Session
from eigsearch.errors import InputError
from eigsearch.models import zoo
from eigsearch.parallel import explain_to
from tests.app.sessions import PATIENCE, motif_graphs, motif_model, motif_session, plain_scores


@pytest.fixture
def session(tmp_path):
    session = motif_session(tmp_path / "cache")
    yield session
    session.close()


def run_background(session):
    background = Background(session)
    background._run()
    assert background.error is None


def random_edits(data: Data, dice: random.Random) -> GraphEdits:
    """A few edits of each kind that fit the graph."""
    count = int(data.num_nodes)
    present = sorted({(min(u, v), max(u, v)) for u, v in data.edge_index.t().tolist()})
    absent = [(u, v) for u in range(count) for v in range(u) if (v, u) not in present]
    return GraphEdits(
        removed_edges=frozenset(dice.sample(present, dice.randint(0, 4))),
        added_edges=frozenset(dice.sample(absent, dice.randint(0, 2))),
        removed_nodes=frozenset(dice.sample(range(count), dice.randint(0, 2))),
        zeroed_features=frozenset((dice.randrange(count), 0) for _ in range(dice.randint(0, 2))),
    )


def test_answer_after_random_edits_equals_a_plain_call_of_the_model(session):
    dice = random.Random(0)
    for _ in range(60):
        item = dice.randrange(session.count)
        answer = session.answer(EditedItem(item, random_edits(motif_graphs()[item], dice)))
        assert answer.scores == pytest.approx(plain_scores(answer.graph.data), abs=1e-6)
        value = answer.scores[answer.explanation.target]
        assert answer.explanation.value == pytest.approx(value, abs=1e-6)
        assert answer.explanation.prediction == answer.scores.index(max(answer.scores))


def test_flip_changes_the_prediction_of_a_plain_call(session):
    flipped = 0
    for item in (0, 20, 30):
        pairs, note = session.flip(EditedItem(item))
        if not pairs:
            assert note
            continue
        edited = GraphEdits(removed_edges=frozenset(pairs)).apply(motif_graphs()[item]).data
        before, after = plain_scores(motif_graphs()[item]), plain_scores(edited)
        assert (before[0] > before[1]) != (after[0] > after[1])
        flipped += 1
    assert flipped == 2


def test_answer_of_another_class_explains_that_class(session):
    predicted = session.answer(EditedItem(0)).explanation.target
    answer = session.answer(EditedItem(0, target=1 - predicted))
    assert answer.explanation.target == 1 - predicted
    assert answer.explanation.prediction == predicted


def test_background_writes_the_rows_that_a_run_writes(session, tmp_path):
    run_background(session)
    explain_to(tmp_path / "run", motif_model(), motif_graphs(), shard_size=SHARD_SIZE)
    for folder in ("rows", "jsonl"):
        own = sorted((session.cache.directory.path / folder).iterdir())
        expected = sorted((tmp_path / "run" / folder).iterdir())
        assert [path.name for path in own] == [path.name for path in expected]
        assert [path.read_bytes() for path in own] == [path.read_bytes() for path in expected]
    assert len(list(store.read(session.cache.directory.path))) == session.count


def test_background_fills_the_table_with_predictions_and_labels(session):
    run_background(session)
    assert session.table.num_known == session.count
    labels = torch.tensor([int(graph.y) for graph in motif_graphs()])
    assert session.table.columns["label"].tolist() == labels.tolist()
    for item in (0, 17, 39):
        scores = plain_scores(motif_graphs()[item])
        assert session.table.columns["confidence"][item] == pytest.approx(max(scores), abs=1e-6)


def test_table_is_as_sure_as_the_explanations(session):
    run_background(session)
    for item in (0, 3, 39):
        near = session.cached(item).near_optimal
        entry = session.table.entry(item)
        assert (entry["answers"], entry["sure"]) == (near.count, near.agreeing / near.count)


def test_session_opened_again_reads_its_cache(session, tmp_path):
    run_background(session)
    session.close()
    again = motif_session(tmp_path / "cache")
    assert all(again.cache.is_done(number) for number in range(again.cache.num_shards))
    first = again.cached(3)
    assert first is not None
    assert first.keep.tolist() == session.answer(EditedItem(3)).explanation.keep.tolist()
    again.close()


def test_session_with_the_cache_of_another_model_raises(session, tmp_path):
    session.close()
    other = zoo.load("BA-2Motifs", "gcn")[0]
    with pytest.raises(InputError, match="another one"):
        Session(other, motif_graphs(), cache=tmp_path / "cache")


def test_two_sessions_of_the_same_data_do_not_share_a_directory(monkeypatch, tmp_path):
    monkeypatch.setattr("eigsearch.app.row_cache.cache_dir", lambda: tmp_path)
    one, other = (Session(motif_model(), motif_graphs()) for _ in range(2))
    assert one.cache.directory.path != other.cache.directory.path
    for session in (one, other):
        session.close()


def test_graph_outside_the_data_set_raises(session):
    for item in (-1, session.count):
        with pytest.raises(InputError, match="from 0 to 39"):
            session.answer(EditedItem(item))


def test_session_without_graphs_raises(tmp_path):
    with pytest.raises(InputError, match="at least one graph"):
        Session(motif_model(), [], cache=tmp_path / "cache")


def test_node_session_answers_equal_a_plain_call_on_the_whole_graph(tmp_path):
    dataset = datasets.load("BA-Shapes")
    model = zoo.load("BA-Shapes", "gin")[0].eval()
    session = Session(model, dataset, cache=tmp_path / "cache")
    u, v = dataset[0].edge_index[:, (dataset[0].edge_index[0] == 350)][:, 0].tolist()
    edits = GraphEdits(removed_edges=frozenset({(u, v)}), removed_nodes=frozenset({0}))
    answer = session.answer(EditedItem(350, edits))
    local = answer.graph.node_ids.index(350)
    with torch.no_grad():
        row = model(answer.graph.data.x, answer.graph.data.edge_index)[local].double().softmax(0)
    assert answer.scores == pytest.approx(row.tolist(), abs=1e-6)
    assert answer.explanation.node == local
    with pytest.raises(InputError, match="explained node"):
        session.answer(EditedItem(350, GraphEdits(removed_nodes=frozenset({350}))))
    session.close()


def test_background_that_cannot_go_on_says_why(session):
    def fail(number):
        raise RuntimeError("the disk is gone")

    session.cache.explain_shard = fail
    background = Background(session)
    background._run()
    assert "the disk is gone" in background.error


class Regression(torch.nn.Module):
    """The number of edges, per graph."""

    def forward(self, x, edge_index, batch):
        ones = torch.ones(edge_index.size(1))
        return torch.zeros(int(batch.max()) + 1).index_add(0, batch[edge_index[0]], ones)[:, None]


def test_regression_shows_values_and_no_confidence(tmp_path):
    graphs = [Data(**{**graph.to_dict(), "y": torch.tensor([2.5])}) for graph in motif_graphs()[:3]]
    session = Session(Regression(), graphs, cache=tmp_path / "cache")
    run_background(session)
    entry = session.table.entry(1)
    assert entry["prediction"] == graphs[1].num_edges
    assert entry["confidence"] is None
    assert entry["correct"] is None
    assert entry["label"] == 2.5
    assert session.answer(EditedItem(1)).scores == [graphs[1].num_edges]
    session.close()


class Stored(OnDiskDataset):
    def __init__(self, root):
        super().__init__(root, backend="sqlite")


def test_database_is_read_by_the_background_and_by_requests(tmp_path):
    dataset = Stored(str(tmp_path / "stored"))
    dataset.extend(list(motif_graphs()))
    session = Session(motif_model(), dataset, cache=tmp_path / "cache")
    thread = threading.Thread(target=run_background, args=(session,), daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert session.table.num_known == len(motif_graphs())
    scores = session.answer(EditedItem(3)).scores
    assert scores == pytest.approx(plain_scores(motif_graphs()[3]), abs=1e-6)
    session.close()
