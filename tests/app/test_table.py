import numpy as np
import pytest

from eigsearch.app.table import Table, TableQuery
from eigsearch.errors import InputError


def row(prediction, value, gain, size=3, error=None):
    return {
        "error": error, "task": "multiclass_classification", "prediction": float(prediction),
        "target": prediction, "value": value, "num_groups": 10, "size": size, "gain": gain,
        "found": [], "agreement": None,
    }  # fmt: skip


@pytest.fixture
def table():
    table = Table(6)
    rows = [row(0, 0.9, 0.5), row(1, 0.6, 0.1), row(1, 0.99, 0.8), row(0, 0.7, None)]
    table.update(range(4), rows, [0.0, 0.0, 1.0, float("nan")])
    table.update([4], [row(0, 0.0, 0.0, error="Expected a graph.")], [1.0])
    return table


def items(table, **query):
    return table.select(TableQuery(**query)).tolist()


def test_select_without_a_filter_returns_everything_known_or_not(table):
    assert items(table) == [0, 1, 2, 3, 4, 5]
    assert items(table, descending=True) == [5, 4, 3, 2, 1, 0]
    assert table.num_known == 5


def test_select_sorted_puts_unknown_values_last_in_both_directions(table):
    assert items(table, sort="confidence") == [1, 3, 0, 2, 4, 5]
    assert items(table, sort="confidence", descending=True) == [2, 0, 3, 1, 4, 5]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"correct": "wrong"}, [1]),
        ({"correct": "right"}, [0, 2]),
        ({"prediction": 1}, [1, 2]),
        ({"max_confidence": 0.7}, [1, 3]),
        ({"max_gain": 0.5}, [0, 1]),
        ({"items": [5, 2, 0]}, [0, 2, 5]),
        ({"items": []}, []),
        ({"correct": "right", "items": [2]}, [2]),
    ],
)
def test_select_query_with_filters_returns_matching_items(table, query, expected):
    assert items(table, **query) == expected


def test_entry_of_unknown_item_has_no_numbers(table):
    assert table.entry(5) == {
        "item": 5, "known": False, "failed": False, "prediction": None, "confidence": None,
        "label": None, "correct": None, "groups": None, "size": None, "gain": None,
        "sure": None, "answers": None,
    }  # fmt: skip
    assert table.entry(4)["failed"]
    assert table.entry(3)["correct"] is None


def test_select_equals_a_plain_sort(table):
    generator = np.random.default_rng(0)
    large = Table(300)
    gains = generator.normal(size=300)
    large.update(range(300), [row(0, 0.5, gain) for gain in gains], [0.0] * 300)
    expected = sorted(range(300), key=lambda item: (-gains[item], item))
    assert items(large, sort="gain", descending=True) == expected


@pytest.mark.parametrize(
    "params",
    [{"sort": "__class__"}, {"correct": "maybe"}, {"max_gain": "x"}, {"max_gain": "nan"},
     {"prediction": "1e99"}],
)  # fmt: skip
def test_from_params_malformed_raises(params):
    with pytest.raises(InputError):
        TableQuery.from_params(params)


def test_entry_of_a_row_with_equally_good_answers_tells_how_many_agree():
    table, agreement = Table(2), {"count": 5, "agreeing": 3, "share": [1.0] * 10, "tolerance": 0.01}
    rows = [{**row(0, 0.9, 0.5), "agreement": agreement}, row(0, 0.9, 0.5)]
    table.update(range(2), rows, [0.0, 0.0])
    assert (table.entry(0)["sure"], table.entry(0)["answers"]) == (pytest.approx(0.6), 5)
    assert (table.entry(1)["sure"], table.entry(1)["answers"]) == (None, None)
    assert items(table, sort="sure", descending=True) == [0, 1]
