"""Motifs are found in the first explanations and then searched in all others."""

import pytest

from eigsearch.app import motif_index
from eigsearch.app.motif_index import MotifIndex
from eigsearch.errors import InputError
from tests.app.sessions import motif_session


@pytest.fixture
def session(tmp_path):
    session = motif_session(tmp_path / "cache")
    for number in range(session.cache.num_shards):
        rows = session.cache.explain_shard(number)
        first = number * session.cache.plan.shard_size
        session.table.update(range(first, first + len(rows)), rows, [0.0] * len(rows))
    yield session
    session.close()


def test_extend_finds_what_a_search_of_all_explanations_finds(session, monkeypatch):
    whole = MotifIndex(session).search()[1]
    monkeypatch.setattr(motif_index, "_MOST_ITEMS", 25)
    monkeypatch.setattr(motif_index, "_AT_ONCE", 9)
    index = MotifIndex(session)
    number, found = index.search()
    assert index.progress(number, found)["left"] == session.count - 25
    lefts = [index.progress(number, index.extend(number))["left"] for _ in range(2)]
    assert lefts == [6, 0]
    assert len(found.searched) == session.count
    expected = {motif.piece.code: whole.holders[n] for n, motif in enumerate(whole.motifs)}
    same = [n for n, motif in enumerate(found.motifs) if motif.piece.code in expected]
    assert same
    for position in same:
        code = found.motifs[position].piece.code
        assert index.holders(f"{number}.{position}") == expected[code]


def test_progress_tells_how_many_items_contain_each_motif_and_where_it_ends(session, monkeypatch):
    monkeypatch.setattr(motif_index, "_MOST_ITEMS", 20)
    monkeypatch.setattr(motif_index, "_MOST_SEARCHED", 30)
    index = MotifIndex(session)
    number, _ = index.search()
    progress = index.progress(number, index.extend(number))
    assert (progress["searched"], progress["left"]) == (30, 0)
    counted = [len(index.holders(f"{number}.{n}")) for n in range(len(progress["counts"]))]
    assert progress["counts"] == counted
    assert "Only the first" in progress["note"]


def test_extend_of_an_unknown_list_raises(session):
    with pytest.raises(InputError, match="list of motifs"):
        MotifIndex(session).extend(7)


@pytest.mark.parametrize("name", ["", "1", "1.99", "x.y", "9.0", "1.0.0"])
def test_holders_of_an_unknown_motif_are_none(session, name):
    index = MotifIndex(session)
    index.search()
    assert index.holders(name) == []
