"""Small sessions and a plain HTTP client for the tests of the studio."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import torch
from torch_geometric.data import Data

from eigsearch import datasets
from eigsearch.app.server import Server
from eigsearch.app.session import Session
from eigsearch.models import zoo
from eigsearch.visualization import Names

PATIENCE = 300  # seconds until what a test waits for counts as missing, also on a busy machine
NAMES = Names("BA-2Motifs", ("cycle", "house"))


@cache
def motif_graphs() -> tuple[Data, ...]:
    """Forty graphs of BA-2Motifs, half of each class."""
    return tuple(datasets.generate("BA-2Motifs").graphs[::25])


@cache
def motif_model() -> torch.nn.Module:
    return zoo.load("BA-2Motifs", "gin")[0]


def motif_session(cache_path: Path, **options: Any) -> Session:
    options = {"names": NAMES, **options}
    return Session(motif_model(), motif_graphs(), cache=cache_path, **options)


def plain_scores(data: Data) -> list[float]:
    """Class probabilities by a call of the model that knows nothing of the library."""
    with torch.no_grad():
        batch = torch.zeros(int(data.num_nodes), dtype=torch.long)
        output = motif_model().eval()(data.x, data.edge_index, batch)
    return output.double().softmax(-1)[0].tolist()


class Client:
    """Sends requests with exactly the headers that a test names."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.host, self.port, self.base = str(parts.hostname), int(parts.port or 0), parts.path

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        absolute: bool = False,
    ) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        try:
            connection.request(method, path if absolute else self.base + path, body, headers or {})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        return json.loads(self.send("GET", path)[1])

    def post(self, path: str, body: Any) -> Any:
        return json.loads(self.send("POST", path, json.dumps(body).encode())[1])


@contextmanager
def serving(session: Session) -> Iterator[Client]:
    server = Server(session, port=0)
    server.start()
    try:
        yield Client(server.address)
    finally:
        server.close()
