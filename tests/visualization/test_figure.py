import builtins
import subprocess
import sys

import pytest

from eigsearch.errors import MissingExtraError
from eigsearch.visualization import figure
from tests.visualization.samples import MOLECULES, explained, graph, nitro_explanation

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

AGAIN = """
import sys
from tests.visualization.samples import MOLECULES, nitro_explanation
for path in sys.argv[1:]:
    nitro_explanation().save(path, MOLECULES)
"""


def test_pictures_are_the_same_bytes_in_another_process_and_under_other_settings(tmp_path):
    files = [tmp_path / "again.svg", tmp_path / "again.png"]
    subprocess.run([sys.executable, "-c", AGAIN, *map(str, files)], check=True)
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "red", "savefig.dpi": 30}):
        for again in files:
            here = nitro_explanation().save(tmp_path / f"here{again.suffix}", MOLECULES)
            assert here.read_bytes() == again.read_bytes()


def test_a_picture_carries_no_date(tmp_path):
    text = nitro_explanation().save(tmp_path / "x.svg", MOLECULES).read_text()
    assert "<dc:date>" not in text


@pytest.mark.parametrize("note", ["", "It is not enough alone. " * 9])
def test_save_figure_with_a_long_sentence_breaks_it_inside_the_picture(tmp_path, monkeypatch, note):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    drawn = []
    monkeypatch.setattr(figure, "write_figure", lambda each, path: drawn.append(each) or path)
    nitro_explanation(note=note).save(tmp_path / "x.png", MOLECULES)
    title = drawn[0]._suptitle
    canvas = FigureCanvasAgg(drawn[0])
    box = title.get_window_extent(canvas.get_renderer())
    assert ("\n" in title.get_text()) == bool(note)
    assert box.x1 <= drawn[0].bbox.x1
    assert box.y0 >= max(ax.get_window_extent().y1 for ax in drawn[0].axes)


def test_plot_draws_on_given_axes_and_leaves_settings_alone():
    before = dict(matplotlib.rcParams)
    ax = matplotlib.figure.Figure().add_subplot()
    assert nitro_explanation().plot(ax, MOLECULES) is ax
    assert [text.get_text() for text in ax.texts] == ["N", "O", "O"]
    assert dict(matplotlib.rcParams) == before


def test_plot_makes_axes_of_its_own():
    ax = nitro_explanation().plot(names=MOLECULES)
    lines_of_bonds = 9 + 4  # four double bonds
    assert len(ax.lines) == lines_of_bonds + 3  # and a halo under each bond of the explanation
    matplotlib.pyplot.close(ax.figure)


def test_letters_keep_their_size_beside_the_bonds_in_smaller_axes():
    small = matplotlib.figure.Figure(figsize=(2, 2)).add_axes((0, 0, 1, 1))
    large = matplotlib.figure.Figure(figsize=(4, 4)).add_axes((0, 0, 1, 1))
    for ax in (small, large):
        nitro_explanation().plot(ax, MOLECULES)
    ratio = large.texts[0].get_fontsize() / small.texts[0].get_fontsize()
    assert ratio == pytest.approx(2)


def test_directed_graphs_loops_and_dollar_signs_are_drawn(tmp_path):
    data = graph([(0, 1), (1, 2), (2, 2)])
    data.edge_index = data.edge_index[:, [0, 2, 3, 4]]
    explanation = explained(data, size=1, node=1)
    assert explanation.save(tmp_path / "x.png").stat().st_size > 1000


def test_a_missing_package_is_named(monkeypatch, tmp_path):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtraError, match=r"eigsearch\[bench\]"):
        nitro_explanation().save(tmp_path / "x.png")
