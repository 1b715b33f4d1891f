"""Tables in every format keep names and values."""

from __future__ import annotations

import csv

import pytest

from eigsearch.errors import InputError
from eigsearch.molecules import save_table


@pytest.mark.parametrize("suffix", ["csv", "tsv", "xlsx", "parquet", "json"])
def test_save_table_keeps_names_and_values(suffix, tmp_path):
    import pandas as pd

    rows = [{"id": "=1+1", "count": 2, "share": 0.5}, {"id": "007", "count": 3, "share": None}]
    path = save_table(rows, tmp_path / "new" / f"table.{suffix}")
    readers = {"csv": pd.read_csv, "tsv": lambda p, **k: pd.read_csv(p, sep="\t", **k)}
    read = readers.get(suffix) or {"xlsx": pd.read_excel, "json": pd.read_json}.get(suffix)
    frame = read(path, dtype={"id": str}) if read else pd.read_parquet(path)
    assert frame["id"].tolist() == ["=1+1", "007"]
    assert frame["count"].tolist() == [2, 3]
    assert frame["share"].isna().tolist() == [False, True]


def test_save_table_of_nothing_is_empty_and_of_another_suffix_refused(tmp_path):
    assert list(csv.reader(save_table([], tmp_path / "t.csv").open())) == [[]]
    with pytest.raises(InputError, match="a table to end in"):
        save_table([], tmp_path / "t.doc")
