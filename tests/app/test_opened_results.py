import json
import urllib.request

import pytest

from eigsearch import datasets, studio
from eigsearch.errors import InputError
from eigsearch.parallel import explain_to
from tests.app.sessions import motif_graphs, motif_model

ABOUT = {"dataset": "BA-2Motifs", "model_name": "gin"}


def rows_of(opened):
    with urllib.request.urlopen(f"{opened.address}api/rows") as response:
        return json.load(response)


def test_studio_of_results_alone_finds_data_model_and_names(tmp_path):
    graphs = datasets.load("BA-2Motifs").graphs
    names = {"class_names": ["ring", "house"]}
    explain_to(tmp_path / "run", motif_model(), graphs, index=[3], about=ABOUT, names=names)
    with studio(results=tmp_path / "run", port=0, cache=tmp_path / "cache") as opened:
        rows = rows_of(opened)
    assert (rows["count"], rows["classes"]) == (1000, ["ring", "house"])


def test_studio_of_results_with_own_data_and_model_reads_its_rows(tmp_path):
    explain_to(tmp_path / "run", motif_model(), motif_graphs(), index=[3])
    given = motif_model(), motif_graphs()
    with studio(*given, results=tmp_path / "run", port=0, cache=tmp_path / "c") as opened:
        assert rows_of(opened)["count"] == 40


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ({"dataset": "mine"}, "Pass what was explained"),
        ({**ABOUT, "model_name": "nets:Net"}, "Pass `model`"),
    ],
)
def test_studio_of_results_that_name_nothing_known_asks_for_it(tmp_path, about, expected):
    explain_to(tmp_path / "run", motif_model(), motif_graphs()[:1], about=about)
    with pytest.raises(InputError, match=expected):
        studio(results=tmp_path / "run")


def test_studio_without_model_or_data_is_a_sentence():
    with pytest.raises(InputError, match="Expected `model` and `dataset`"):
        studio(motif_model())
    with pytest.raises(InputError, match="Expected `model` and `dataset`"):
        studio()
