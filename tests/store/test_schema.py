from __future__ import annotations

import hashlib

from eigsearch.store.schema import ROWS, SCHEMA_VERSION, TIMES


def test_schema_version_is_that_of_the_columns() -> None:
    """Other columns under the same version would look like damage, which `--repair` removes."""
    names = ",".join(ROWS.names + TIMES.names).encode()
    assert (SCHEMA_VERSION, hashlib.sha256(names).hexdigest()[:16]) == (4, "ad7732dc9edb1b9c")
