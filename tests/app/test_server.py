"""The server as a hostile client meets it, and as the page does."""

import asyncio
import http.client
import json
import socket
import threading
import time

import pytest
import torch
from torch_geometric.data import Data

from eigsearch.app.security import LARGEST_BODY
from eigsearch.app.server import Server, _bind
from eigsearch.app.session import Session
from eigsearch.errors import InputError
from eigsearch.visualization import Names
from tests.app.sessions import PATIENCE, motif_graphs, motif_session, plain_scores, serving


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with serving(motif_session(tmp_path_factory.mktemp("studio") / "cache")) as client:
        yield client


def wait_until_explained(client):
    deadline = time.monotonic() + PATIENCE
    while (state := client.get("api/rows"))["known"] < state["count"]:
        assert state["problem"] is None
        assert time.monotonic() < deadline, state
        time.sleep(0.05)


def run_all(threads):
    """Start threads and wait until all have ended."""
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)


class TestRefusals:
    @pytest.mark.parametrize(
        "path",
        ["/", "/wrong/", "/wrong/api/rows", "//api/rows", "/../api/rows", "/%00/", "/api/rows"],
    )
    def test_request_without_the_token_is_not_found(self, client, path):
        status, body = client.send("GET", path, absolute=True)
        assert status == 404
        assert b"token" in body

    @pytest.mark.parametrize(
        "host",
        ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "", "evil:8642",
         "127.0.0.1@evil.example", "[::1"],
    )  # fmt: skip
    def test_other_host_is_refused_even_with_the_token(self, client, host):
        assert client.send("GET", "api/rows", headers={"Host": host})[0] in (400, 403)

    @pytest.mark.parametrize(
        "origin",
        ["https://evil.example", "null", "http://127.0.0.1.evil.example", "https://127.0.0.1",
         "file://", "", "http://127.0.0.1", "http://127.0.0.1:1", "http://localhost:1"],
    )  # fmt: skip
    def test_other_origin_is_refused_even_with_the_token(self, client, origin):
        status, _ = client.send("POST", "api/answer", b'{"item": 0}', {"Origin": origin})
        assert status == 403

    def test_own_origin_is_served(self, client):
        headers = {"Origin": f"http://127.0.0.1:{client.port}"}
        status, body = client.send("POST", "api/answer", b'{"item": 0}', headers)
        assert status == 200
        assert "item" in json.loads(body)

    def test_second_origin_does_not_hide_the_first(self, client):
        own = f"http://127.0.0.1:{client.port}"
        with socket.create_connection((client.host, client.port), timeout=PATIENCE) as raw:
            head = f"GET {client.base}api/rows HTTP/1.1\r\nHost: {own[7:]}\r\n"
            raw.sendall(f"{head}Origin: https://evil.example\r\nOrigin: {own}\r\n\r\n".encode())
            assert b" 403 " in raw.recv(100)

    @pytest.mark.parametrize("site", ["cross-site", "same-site", "other"])
    def test_fetch_of_another_site_is_refused(self, client, site):
        """Another port of this machine is the same site, and another origin."""
        headers = {"Sec-Fetch-Site": site}
        assert client.send("GET", "api/rows", headers=headers)[0] == 403
        assert (
            client.send("GET", "", headers=headers)[0] == 200
        )  # the page, as a notebook frames it

    @pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS", "TRACE"])
    def test_other_methods_are_refused(self, client, method):
        assert client.send(method, "api/rows")[0] == 405

    def test_oversized_body_is_refused_with_and_without_a_length(self, client):
        large = b"[" + b"0," * LARGEST_BODY + b"0]"
        assert client.send("POST", "api/answer", large)[0] == 413
        with socket.create_connection((client.host, client.port), timeout=PATIENCE) as raw:
            head = f"POST {client.base}api/answer HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            raw.sendall(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n")
            chunk = b"%x\r\n%s\r\n" % (len(large), large)
            raw.sendall(chunk + b"0\r\n\r\n")
            assert b" 413 " in raw.recv(100)

    @pytest.mark.parametrize(
        "path",
        ["../../etc/passwd", "..%2f..%2fetc%2fpasswd", "table.csv/../../../etc/passwd",
         "api/export/../../../etc/passwd", "static/studio.js", "table.exe", "api/rows/",
         "api//rows", "api/jobs/../../etc/passwd", "table.csv%00"],
    )  # fmt: skip
    def test_no_path_reaches_the_file_system(self, client, path):
        status, body = client.send("GET", path)
        assert status in (404, 405)
        assert body.endswith(b".\n")  # a sentence
        assert b"root:" not in body

    @pytest.mark.parametrize(
        "body",
        [b"", b"{", b"[]", b"null", b'"text"', b"\xff\xfe", b'{"item": "0"}', b'{"item": true}',
         b'{"item": -1}', b'{"item": 1e400}', b'{"item": 99999}', b'{"item": 0, "edits": []}',
         b'{"item": NaN}', b'{"item": %s}' % (b"9" * 400),
         b'{"item": 0, "target": "x"}', b'{"item": 0, "target": 17}',
         b'{"item": 0, "target": true}',
         b'{"item": 0, "target": -1}', b'{"item": 0, "target": NaN}',
         b'{"item": 0, "edits": {"removed_edges": [[-1, 0]]}}',
         b'{"item": 0, "edits": {"zeroed_features": [[0, -1]]}}',
         b'{"item": 0, "edits": {"zeroed_features": [[-2, 0]]}}',
         b'{"item": 0, "edits": {"added_edges": [[0, 1e9]]}}',
         b'{"item": 0, "edits": {"added_edges": [[0, 1, 2]]}}',
         b'{"item": 0, "edits": {"removed_nodes": [[1]]}}',
         b'{"item": 0, "edits": {"__class__": []}}', b'{"a":' * 9_000,
         b'{"item": 0, "edits": {"removed_edges": [[0, 0]]}}', b"[" * 30_000],
    )  # fmt: skip
    def test_malformed_body_becomes_a_sentence(self, client, body):
        status, answer = client.send("POST", "api/answer", body)
        assert status == 200
        sentence = json.loads(answer)["error"]
        assert sentence.startswith("Expected")
        assert len(sentence) <= 500
        assert "Traceback" not in sentence

    @pytest.mark.parametrize(
        ("path", "body"),
        [("node", {"item": 0}), ("node", {"item": 0, "at": -1}),
         ("node", {"item": 0, "at": "9" * 5000}),
         ("find", {"text": "9" * 300}), ("find", {"text": "-1"}), ("find", {"text": 5}),
         ("search", {"pattern": "("}), ("search", {"pattern": "\0"}), ("snippet", {"item": -5}),
         ("compare", {"item": 0, "methods": []}), ("compare", {"item": 0, "methods": [1]}),
         ("compare", {"item": 0, "methods": ["explainer:../x"]}),
         ("compare", {"item": 0, "methods": ["explainer:ig"] * 13}), ("flip", {})],
    )  # fmt: skip
    def test_other_malformed_requests_become_sentences(self, client, path, body):
        sentence = client.post(f"api/{path}", body)["error"]
        assert sentence.startswith("Expected")
        assert len(sentence) <= 500

    @pytest.mark.parametrize("query", ["offset=-1", "offset=x", "sort=__dict__", "max_gain=inf"])
    def test_malformed_query_becomes_a_sentence(self, client, query):
        assert "error" in client.get(f"api/rows?{query}")

    @pytest.mark.parametrize("kind", ["exe", "..", "html%2f..", "__init__"])
    def test_unknown_export_is_refused(self, client, kind):
        status, body = client.send("POST", f"api/export/{kind}", b'{"item": 0}')
        assert status == 404 or "error" in json.loads(body)

    def test_answers_carry_headers_that_protect_the_page(self, client):
        connection = http.client.HTTPConnection(client.host, client.port, timeout=PATIENCE)
        connection.request("GET", client.base)
        response = connection.getresponse()
        page = response.read().decode()
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Referrer-Policy"] == "no-referrer"
        assert "default-src 'none'" in page
        assert "connect-src 'self'" in page
        connection.close()

    def test_requests_that_are_given_up_leave_the_server_alone(self, client):
        body = b'{"item": 3}'
        for sent in (body, body[:4]):  # closed while it computes, and before all of it came
            head = f"POST {client.base}api/answer HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            with socket.create_connection((client.host, client.port), timeout=PATIENCE) as raw:
                raw.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + sent)
        assert "scores" in client.post("api/answer", {"item": 3})

    def test_idle_connections_keep_nobody_waiting(self, client):
        at = client.host, client.port
        idle = [socket.create_connection(at, timeout=PATIENCE) for _ in range(100)]
        assert "scores" in client.post("api/answer", {"item": 1})
        for connection in idle:
            connection.close()


class TestAnswers:
    def test_rows_are_explained_and_sorted(self, client):
        wait_until_explained(client)
        answer = client.get("api/rows?sort=gain&descending=1")
        gains = [row["gain"] for row in answer["rows"]]
        assert gains == sorted(gains, reverse=True)
        assert answer["total"] == answer["count"] == 40
        wrong = client.get("api/rows?correct=wrong")["rows"]
        assert all(row["prediction"] != row["label"] for row in wrong)

    def test_answer_shows_the_prediction_of_a_plain_call(self, client):
        answer = client.post("api/answer", {"item": 5})
        assert answer["scores"] == pytest.approx(plain_scores(motif_graphs()[5]), abs=1e-6)
        assert answer["item"]["nodes"] == list(range(int(motif_graphs()[5].num_nodes)))

    def test_edited_graph_keeps_the_layout_of_the_original(self, client):
        original = client.post("api/answer", {"item": 5})["item"]
        u, v = motif_graphs()[5].edge_index[:, 0].tolist()
        body = {"item": 5, "edits": {"removed_edges": [[u, v]], "removed_nodes": [0]}}
        edited = client.post("api/answer", body)["item"]
        assert (edited["x"], edited["y"]) == (original["x"], original["y"])
        links = {frozenset(pair) for pair in zip(edited["from"], edited["to"], strict=True)}
        assert frozenset((u, v)) not in links
        assert not any(0 in pair for pair in links)

    def test_twenty_tabs_at_once_are_all_answered_rightly(self, client):
        answers = {}

        def ask(item):
            answers[item] = client.post("api/answer", {"item": item})["scores"]

        run_all([threading.Thread(target=ask, args=(item,)) for item in range(20)])
        for item, scores in answers.items():
            assert scores == pytest.approx(plain_scores(motif_graphs()[item]), abs=1e-6)
        assert len(answers) == 20

    def test_one_state_in_many_tabs_is_answered_alike(self, client):
        body = {"item": 7, "edits": {"removed_nodes": [3]}}
        found = []

        def ask():
            found.append(client.post("api/answer", body)["scores"])

        run_all([threading.Thread(target=ask) for _ in range(12)])
        assert found == [found[0]] * 12

    def test_node_has_features_and_neighbours(self, client):
        graph = motif_graphs()[0]
        about = client.post("api/node", {"item": 0, "at": 3})
        ends = graph.edge_index
        around = sorted(ends[1][ends[0] == 3].unique().tolist())
        assert about["neighbours"] == [[node, str(node)] for node in around]
        assert about["width"] == graph.x.size(1)
        assert "error" in client.post("api/node", {"item": 0, "at": 10**6})

    def test_motifs_name_the_graphs_that_contain_them(self, client):
        wait_until_explained(client)
        found = client.post("api/motifs", {})
        rows = client.get(f"api/rows?motif={found['motifs'][0]['id']}")
        assert rows["total"] == found["counts"][0] > 0
        again = client.post("api/motifs", {"list": found["list"]})
        assert (again["counts"], again["left"]) == (found["counts"], 0)
        assert "error" in client.post("api/motifs", {"list": 99})
        assert client.get("api/rows?motif=9.9")["total"] == 0


class Crashing(torch.nn.Module):
    """A model that fails on a graph with a feature of zero."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 2)

    def forward(self, x, edge_index, batch):
        if bool((x == 0).any()):
            raise RuntimeError("<b>an empty</b> feature\nhere")
        return self.layer(x.mean(0, keepdim=True)).expand(int(batch.max()) + 1, 2)


def test_crash_of_the_model_becomes_a_sentence(tmp_path):
    edges = torch.tensor([list(range(6)), [(i + 1) % 6 for i in range(6)]])
    graph = Data(x=torch.ones(6, 1), edge_index=torch.cat([edges, edges.flip(0)], dim=1))
    with serving(Session(Crashing(), [graph], cache=tmp_path / "cache")) as client:
        answer = client.post("api/answer", {"item": 0, "edits": {"zeroed_features": [[0, 0]]}})
        assert "an empty" in answer["error"]
        assert "\n" not in answer["error"]
        assert client.get("api/rows")["count"] == 1  # the server lives


def test_names_with_markup_never_become_markup(tmp_path):
    evil = "</script><img src=x onerror=alert(1)>"
    session = motif_session(tmp_path / "cache", names=Names(evil, (evil, evil)))
    with serving(session) as client:
        page = client.send("GET", "")[1].decode()
        assert evil not in page
        assert "<img src=x" not in page


def test_port_in_use_is_a_sentence(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        session = motif_session(tmp_path / "cache")
        with pytest.raises(InputError, match="to be free"):
            Server(session, port=taken.getsockname()[1])
        session.close()


def test_close_ends_all_threads_and_frees_the_port(tmp_path):
    before = set(threading.enumerate())
    with serving(motif_session(tmp_path / "cache")) as client:
        client.post("api/answer", {"item": 0})
    with pytest.raises(ConnectionRefusedError):
        client.send("GET", "")
    studio = [t.name for t in threading.enumerate() if t.name.startswith("studio")]
    assert studio == []
    for thread in set(threading.enumerate()) - before:
        thread.join(PATIENCE)  # a pool of the event loop may end later
        assert not thread.is_alive()


def test_answers_leave_without_waiting_for_acknowledgements():
    """Headers and body of an answer are two writes; without TCP_NODELAY the second one waits."""

    async def accepted():
        found = asyncio.get_running_loop().create_future()

        def serve(_, writer):
            own = writer.get_extra_info("socket")
            found.set_result(own.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listener = _bind(0)
        async with await asyncio.start_server(serve, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            writer.close()
            return await found

    assert asyncio.run(accepted()) != 0
