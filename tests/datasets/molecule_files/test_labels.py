from __future__ import annotations

import pyarrow as pa
import pytest

from eigsearch.datasets.molecule_files.labels import read_labels
from eigsearch.errors import InputError


@pytest.mark.parametrize(
    ("values", "read", "names"),
    [
        ([0, 1, None], [0, 1, None], ("0", "1")),
        ([0.0, 1.0, None], [0, 1, None], ("0", "1")),
        ([True, False], [1, 0], ("False", "True")),
        ([2, 0], [2, 0], ("0", "1", "2")),
        ([1.0, 2.0], [1.0, 2.0], ()),
        ([0.5, float("nan")], [0.5, None], ()),
        ([-1, 1], [-1.0, 1.0], ()),
        ([100, 200], [100.0, 200.0], ()),
        (list(range(30)), [float(n) for n in range(30)], ()),
    ],
)
def test_read_labels_tells_classes_from_values(values, read, names):
    found = read_labels("y", pa.chunked_array([pa.array(values)]))
    assert (found.values, found.class_names) == (read, names)


@pytest.mark.parametrize(
    "values",
    [
        pa.chunked_array([[[1], [2]]]),
        pa.chunked_array([[{"a": 1}]]),
        pa.chunked_array([pa.array([2**63], pa.uint64())]),
    ],
    ids=["lists", "structs", "large numbers"],
)
def test_read_labels_of_what_is_no_label_is_refused(values: pa.ChunkedArray) -> None:
    with pytest.raises(InputError, match="Expected column 'y' to hold labels"):
        read_labels("y", values)
