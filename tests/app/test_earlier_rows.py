import pytest

from eigsearch import datasets
from eigsearch.app.background import Background
from eigsearch.app.earlier_rows import EarlierRows
from eigsearch.app.session import EditedItem, Session
from eigsearch.cli.served_results import open_results
from eigsearch.errors import InputError
from eigsearch.models import zoo
from eigsearch.options import Options
from eigsearch.parallel import explain_to
from tests.app.sessions import motif_graphs, motif_model

OPTIONS = Options(sparsity=0.7, search="refine")
CHOSEN = [39, *range(32), 35]  # one whole shard of the studio, and some of another


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    path = tmp_path_factory.mktemp("earlier") / "results"
    explain_to(path, motif_model(), motif_graphs(), index=CHOSEN, options=OPTIONS, shard_size=5)
    return path


@pytest.fixture
def session(results, tmp_path):
    earlier = EarlierRows(results)
    keywords = {"options": earlier.options(), "cache": tmp_path / "cache", "earlier": earlier}
    session = Session(motif_model(), motif_graphs(), **keywords)
    yield session
    session.close()


def test_session_reads_the_rows_of_a_run_without_explaining_them_again(session, results):
    explained = []
    session.cache._worker = lambda shard: explained.append(shard.number)
    background = Background(session)
    background._read_earlier()
    assert session.table.known.nonzero()[0].tolist() == sorted(CHOSEN)
    background._explain(0)
    assert explained == []
    assert session.cache.row(39)["index"] == 39
    assert session.cache.row(34) is None


def test_session_of_a_run_explains_what_the_run_did_not(session):
    Background(session)._run()
    assert session.table.num_known == 40
    assert session.cache.table([35, 34, 3])["index"].to_pylist() == [35, 34, 3]


def test_session_of_a_run_has_its_options(session):
    assert (session.options.sparsity, session.options.search) == (0.7, "refine")
    found = session.answer(EditedItem(39)).explanation
    assert found.config["sparsity"] == 0.7
    assert found.config["search"] == "refine"


def test_session_of_a_run_of_another_model_or_other_options_raises(results, tmp_path):
    earlier, other = EarlierRows(results), zoo.load("BA-2Motifs", "gcn")[0]
    with pytest.raises(InputError, match="Expected the model that"):
        Session(other, motif_graphs(), options=earlier.options(), earlier=earlier)
    with pytest.raises(InputError, match="Expected the options that"):
        Session(motif_model(), motif_graphs(), earlier=earlier)
    with pytest.raises(InputError, match="Expected the data that"):
        Session(motif_model(), motif_graphs()[:9], options=earlier.options(), earlier=earlier)


def test_session_of_a_run_of_nodes_reads_its_nodes(tmp_path):
    dataset, model = datasets.load("BA-Shapes"), zoo.load("BA-Shapes", "gin")[0]
    explain_to(tmp_path / "nodes", model, dataset[0], node=[350, 4])
    earlier = EarlierRows(tmp_path / "nodes")
    session = Session(
        model, dataset, options=earlier.options(), cache=tmp_path / "c", earlier=earlier
    )
    assert earlier.level == "node"
    assert session.cached(350).node == 350
    session.close()


def test_earlier_rows_about_a_chosen_class_raise(tmp_path):
    explain_to(tmp_path / "run", motif_model(), motif_graphs()[:2], target=1)
    with pytest.raises(InputError, match="--target"):
        EarlierRows(tmp_path / "run")


@pytest.mark.parametrize("features", [None, "nodes"])
def test_options_are_those_of_the_run(tmp_path, features):
    options = Options(features=features, connected=features is None, min_size=3)
    explain_to(tmp_path / "run", motif_model(), motif_graphs()[:1], options=options)
    found = EarlierRows(tmp_path / "run").options()
    assert (found.features, found.min_size) == (features, 3)
    assert found.connected == options.connected


def test_open_results_finds_data_and_model_by_name(tmp_path):
    about = {"dataset": "BA-2Motifs", "model_name": "gcn", "explainer": "eig_search"}
    explain_to(tmp_path / "run", motif_model(), motif_graphs()[:1], about=about)
    found = open_results(tmp_path / "run", None, None, None, None)
    assert (found.dataset, found.model, found.task) == ("BA-2Motifs", "gcn", "graph")
    assert open_results(tmp_path / "run", None, None, "gin", None).model == "gin"


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ({"dataset": "mine"}, "--data"),
        ({"dataset": "BA-2Motifs", "explainer": "pgexplainer"}, "training"),
    ],
)
def test_open_results_that_cannot_be_repeated_says_what_is_missing(tmp_path, about, expected):
    explain_to(tmp_path / "run", motif_model(), motif_graphs()[:1], about=about)
    with pytest.raises(InputError, match=expected):
        open_results(tmp_path / "run", None, None, None, None)
