"""The thread that explains a whole data set: how it ends."""

import threading
import time

import torch
from torch_geometric.data import Data

from eigsearch.app.background import Background
from eigsearch.app.session import Session
from tests.app.sessions import PATIENCE

called, ran_to_its_end = threading.Event(), threading.Event()


class Slow(torch.nn.Module):
    """A model whose call takes a minute."""

    def forward(self, x, edge_index, batch):
        called.set()
        for _ in range(6_000):
            time.sleep(0.01)
        ran_to_its_end.set()
        return x.sum(0, keepdim=True)


def test_stop_does_not_wait_for_the_graphs_that_are_explained(tmp_path):
    graph = Data(x=torch.ones(2, 2), edge_index=torch.tensor([[0, 1], [1, 0]]))
    session = Session(Slow(), [graph], cache=tmp_path / "cache")
    background = Background(session)
    background.start()
    assert called.wait(timeout=PATIENCE), background.error
    background.stop()
    session.close()
    assert not background._thread.is_alive()
    assert not ran_to_its_end.is_set()
    assert background.error is None
