import networkx as nx
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from eigsearch.visualization.layout import layout

RING = [(0, 1), (1, 2), (2, 3), (3, 0)]


def blas_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_layout_computes_on_one_thread_and_gives_the_others_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    during = []
    real = nx.kamada_kawai_layout

    def recorded(*args: object, **kwargs: object) -> object:
        during.append(blas_threads())
        return real(*args, **kwargs)

    monkeypatch.setattr(nx, "kamada_kawai_layout", recorded)
    with threadpool_limits(2, "blas"):
        before = blas_threads()
        layout(4, RING)
        assert blas_threads() == before
    assert during == [{1} if before else set()]  # some systems have a BLAS that is not listed
