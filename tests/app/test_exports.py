import io

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from eigsearch.app.background import Background
from eigsearch.app.edits import GraphEdits
from eigsearch.app.exports import export_answer, export_table, snippet
from eigsearch.app.session import EditedItem
from eigsearch.errors import InputError
from eigsearch.options import Options
from eigsearch.store.schema import ROWS
from tests.app.sessions import motif_graphs, motif_model, motif_session

ORIGIN = (
    "from tests.app.sessions import motif_graphs, motif_model",
    "graphs, model = motif_graphs(), motif_model()",
)


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    session = motif_session(tmp_path_factory.mktemp("exports") / "cache", origin=ORIGIN)
    Background(session)._run()
    yield session
    session.close()


def edited():
    u, v = motif_graphs()[7].edge_index[:, 3].tolist()
    return EditedItem(7, GraphEdits(frozenset({(u, v)}), removed_nodes=frozenset({1})), target=0)


@pytest.mark.parametrize(
    ("kind", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("html", b"<!")]
)
def test_export_answer_writes_a_file_of_its_kind(session, kind, start):
    assert export_answer(session, edited(), kind).startswith(start)


def test_export_answer_of_unknown_kind_raises(session):
    with pytest.raises(InputError, match="svg, png"):
        export_answer(session, edited(), "exe")


@pytest.mark.parametrize("item", [EditedItem(3), edited()])
def test_snippet_repeats_what_is_on_the_screen(session, item, capsys):
    found: dict = {}
    exec(snippet(session, item), found)
    expected = session.answer(item).explanation
    assert found["explanation"].value == pytest.approx(expected.value)
    assert found["explanation"].keep.tolist() == expected.keep.tolist()
    assert capsys.readouterr().out.strip() == expected.sentence()


def test_snippet_names_options_that_are_not_the_default(tmp_path):
    session = motif_session(tmp_path / "cache", options=Options(sparsity=0.8, search="refine"))
    assert "sparsity=0.8" in snippet(session, EditedItem(0))
    assert "search='refine'" in snippet(session, EditedItem(0))
    session.close()


def test_export_table_holds_the_chosen_rows_in_their_order(session):
    items = np.array([38, 3, 20])
    parquet = pq.read_table(io.BytesIO(export_table(session, items, "parquet")))
    assert parquet.schema.equals(ROWS)
    assert parquet["index"].to_pylist() == [38, 3, 20]
    csv = pyarrow.csv.read_csv(io.BytesIO(export_table(session, items, "csv")))
    assert csv["index"].to_pylist() == [38, 3, 20]
    assert csv["label"].to_pylist() == [int(motif_graphs()[item].y) for item in (38, 3, 20)]
    assert csv["gain"].to_pylist() == pytest.approx(parquet["gain"].to_pylist())


def test_export_table_of_nothing_is_an_empty_table(session):
    empty = pq.read_table(io.BytesIO(export_table(session, np.array([], dtype=int), "parquet")))
    assert empty.num_rows == 0


def test_cache_is_used_for_the_original(session):
    assert session.answer(EditedItem(3)).explanation.engine == session.cached(3).engine
    assert motif_model() is session.model
