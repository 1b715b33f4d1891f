"""The web application: addresses of the page, of its data and of what it exports."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from eigsearch.app.background import Background
from eigsearch.app.edits import GraphEdits
from eigsearch.app.exports import MEDIA_TYPES, export_answer, export_table, snippet
from eigsearch.app.items import Item
from eigsearch.app.jobs import Jobs
from eigsearch.app.molecule_search import MoleculePattern
from eigsearch.app.motif_index import MotifIndex, motif_data
from eigsearch.app.node_data import node_data
from eigsearch.app.page import studio_page
from eigsearch.app.page_data import answer_data, title_of
from eigsearch.app.session import EditedItem, Session
from eigsearch.app.table import TableQuery
from eigsearch.errors import EigsearchError, InputError
from eigsearch.inputs.arguments import parse_link, parse_node
from eigsearch.inputs.typed_graph import plain_name
from eigsearch.outcomes import reason_of

_MOST_ROWS = 200  # rows of the table per response
_MOST_SEARCHED = 20_000  # the most molecules that one search checks
_LONGEST_NAME = 400  # characters of a node or link that a user writes
_SEARCHES = 32  # results of searches that stay available
_REFUSALS = {
    404: "Nothing is served here. Open the address that the studio printed.",
    405: "This method is not served here. Open the address that the studio printed.",
}


class StudioApp:
    """Answers the requests of the page for one session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.background, self.jobs = Background(session), Jobs(session)
        self.motifs = MotifIndex(session)
        self._searches: dict[str, list[int]] = {}

    def routes(self) -> list[Route]:
        """Return the addresses and what answers them."""
        return [
            Route("/", self.page),
            Route("/api/rows", _json(self.rows)),
            Route("/api/find", _json(self.find), methods=["POST"]),
            Route("/api/search", _json(self.search), methods=["POST"]),
            Route("/api/motifs", _json(self.find_motifs), methods=["POST"]),
            Route("/api/answer", _json(self.answer), methods=["POST"]),
            Route("/api/flip", _json(self.flip), methods=["POST"]),
            Route("/api/node", _json(self.node), methods=["POST"]),
            Route("/api/compare", _json(self.compare), methods=["POST"]),
            Route("/api/jobs/{job_id}", _json(self.job)),
            Route("/api/jobs/{job_id}", _json(self.cancel), methods=["DELETE"]),
            Route("/api/snippet", _json(self.snippet), methods=["POST"]),
            Route("/api/export/{kind}", self.export, methods=["POST"]),
            Route("/table.{kind}", self.table),
        ]

    async def page(self, request: Request) -> Response:
        """Return the page."""
        return HTMLResponse(await run_in_threadpool(studio_page, self.session))

    def rows(self, request: Request, _: Any) -> dict[str, Any]:
        """Return rows of the table, and ask the background for those that are not known yet."""
        table = self.session.table
        items = table.select(self._query(request))
        offset = _integer(request.query_params.get("offset", "0"), 0, 10**9)
        shown = items[offset : offset + _MOST_ROWS].tolist()
        self.background.want([item for item in shown if not table.known[item]])
        return {
            "total": len(items),
            "offset": offset,
            "rows": [self._row(item) for item in shown],
            "classes": list(self.session.class_names),
            "known": table.num_known,
            "failed": int(table.failed.sum()),
            "count": table.count,
            "problem": self.background.error,
        }

    def find(self, request: Request, body: Any) -> dict[str, Any]:
        """Return the item that a user wrote: a number, a node with its type, or a link."""
        items = self.session.items
        return items.address(items.find(str(_field(body, "text", str))[:_LONGEST_NAME]))

    def search(self, request: Request, body: Any) -> dict[str, Any]:
        """Search molecules by a pattern; the result is named in later queries."""
        text = str(_field(body, "pattern", str)).strip()
        if text not in self._searches:
            pattern, session = MoleculePattern(text), self.session
            with session.active.interactive():
                count = min(session.count, _MOST_SEARCHED) if session.level == "graph" else 0
                graphs = (session.source[item] for item in range(count))
                self._searches[text] = pattern.search(graphs, session.names)
            while len(self._searches) > _SEARCHES:
                self._searches.pop(next(iter(self._searches)))
        limited = self.session.count > _MOST_SEARCHED
        note = f"Searched the first {_MOST_SEARCHED:,} molecules." if limited else ""
        return {"found": len(self._searches[text]), "note": note}

    def find_motifs(self, request: Request, body: Any) -> dict[str, Any]:
        """Find the motifs of the first explanations, or search more of them for a known list."""
        with self.session.active.interactive():
            if "list" in body:
                number = _field(body, "list", int)
                return self.motifs.progress(number, self.motifs.extend(number))
            number, found = self.motifs.search()
            motifs = motif_data(self.session, number, found)
            return {**self.motifs.progress(number, found), "motifs": motifs}

    def answer(self, request: Request, body: Any) -> dict[str, Any]:
        """Predict and explain an item after edits."""
        edited_item = self._edited_item(body)
        return answer_data(self.session, edited_item, self.session.answer(edited_item))

    def flip(self, request: Request, body: Any) -> dict[str, Any]:
        """Return the edges whose removal changes the prediction."""
        pairs, note = self.session.flip(self._edited_item(body))
        return {"removed_edges": pairs, "note": note}

    def node(self, request: Request, body: Any) -> dict[str, Any]:
        """Return features and neighbours of a node."""
        node = body.get("at")
        if isinstance(node, bool) or not isinstance(node, int | str):
            raise InputError("Expected `at` to be a node (got another value). Reload the page.")
        return node_data(self.session, self._item(body), node)

    def compare(self, request: Request, body: Any) -> dict[str, Any]:
        """Start a comparison of explainers and searches."""
        methods = _field(body, "methods", list)
        if not all(isinstance(method, str) for method in methods):
            raise InputError("Expected `methods` to be names (got others). Choose from the list.")
        return self.jobs.start(self._edited_item(body), methods).state()

    def job(self, request: Request, body: Any) -> dict[str, Any]:
        """Return how far a comparison is."""
        return self.jobs.get(request.path_params["job_id"]).state()

    def cancel(self, request: Request, body: Any) -> dict[str, Any]:
        """Cancel a comparison."""
        job = self.jobs.get(request.path_params["job_id"])
        job.cancel.set()
        return job.state()

    def snippet(self, request: Request, body: Any) -> dict[str, Any]:
        """Return the Python code of what is on the screen."""
        return {"code": snippet(self.session, self._edited_item(body))}

    async def export(self, request: Request) -> Response:
        """Return a file of what is on the screen."""
        kind = request.path_params["kind"]
        body = await request.body()
        try:
            edited_item = self._edited_item(_parse(body))
            content = await run_in_threadpool(export_answer, self.session, edited_item, kind)
        except Exception as error:
            return JSONResponse({"error": reason_of(error)})
        return _file(content, kind, f"explanation-of-a-{self.session.level}")

    async def table(self, request: Request) -> Response:
        """Return the rows of the current filter as a file."""
        kind = request.path_params["kind"]
        if kind not in ("csv", "parquet"):
            return Response("Choose table.csv or table.parquet.\n", 404)
        try:
            items = self.session.table.select(self._query(request))
            content = await run_in_threadpool(export_table, self.session, items, kind)
        except EigsearchError as error:
            return Response(f"{error}\n", 400)
        return _file(content, kind, "explanations")

    def _query(self, request: Request) -> TableQuery:
        params = request.query_params
        found: list[int] | None = None
        if params.get("pattern"):
            found = self._searches.get(params["pattern"].strip(), [])
        if params.get("motif"):
            holders = self.motifs.holders(params["motif"])
            found = holders if found is None else sorted({*found} & {*holders})
        return TableQuery.from_params(params, found)

    def _edited_item(self, body: Any) -> EditedItem:
        item = self._item(body)
        target = body.get("target")
        if target is not None and not (type(target) is int and 0 <= target < 10**6):
            raise InputError("Expected `target` to be a class (got another value). Leave it out.")
        return EditedItem(item, GraphEdits.from_json(body.get("edits", {})), target)

    def _item(self, body: Any) -> Item:
        """Return the item that a request names: a row by number, or a node or link by name."""
        level = self.session.level
        if level == "graph" or level not in body:
            return _field(body, "item", int)
        parse = parse_link if level == "link" else parse_node
        name = parse(plain_name(body[level]))
        if name is None:
            raise InputError(f"Expected `{level}` to be a {level} (got none). Reload the page.")
        return name

    def _row(self, item: int) -> dict[str, Any]:
        """Return a row of the table, with what it is called and the address of its page."""
        session = self.session
        name = session.source.name(item) if session.level == "graph" else title_of(session, item)
        entry = {**session.table.entry(item), "name": name, "address": session.items.address(item)}
        row = session.cache.row(item) if entry["failed"] else None
        return entry if row is None else {**entry, "reason": row["error"]}


def make_app(session: Session) -> tuple[Starlette, StudioApp]:
    """Return the web application of a session, and what answers its requests."""
    studio = StudioApp(session)
    app = Starlette(routes=studio.routes(), exception_handlers={HTTPException: _refused})
    app.router.redirect_slashes = False
    return app, studio


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentence = _REFUSALS.get(error.status_code, error.detail)
    return Response(sentence + "\n", error.status_code, media_type="text/plain")


def _json(
    answer: Callable[[Request, Any], dict[str, Any]],
) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that answers in a thread; what goes wrong becomes a sentence."""

    async def endpoint(request: Request) -> Response:
        try:
            body = _parse(await request.body()) if request.method == "POST" else None
            values = await run_in_threadpool(answer, request, body)
        except HTTPException:
            raise
        except Exception as error:  # a user's model may raise anything
            values = {"error": reason_of(error)}
        return JSONResponse(_finite(values))

    return endpoint


def _parse(content: bytes) -> Any:
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise InputError("Expected the request to be a JSON object (got another). Reload the page.")
    return body


def _field(body: Any, name: str, kind: type) -> Any:
    value = body.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InputError(
            f"Expected `{name}` to be {kind.__name__} (got {type(value).__name__}). "
            "Reload the page."
        )
    return value


def _integer(text: str, low: int, high: int) -> int:
    value = int(text) if text.isdecimal() and len(text) < 12 else -1
    if not low <= value <= high:
        raise InputError(f"Expected a number from {low} to {high} (got {text[:20]!r}). Reload.")
    return value


def _file(content: bytes, kind: str, stem: str) -> Response:
    name = {"Content-Disposition": f'attachment; filename="{stem}.{kind}"'}
    return Response(content, media_type=MEDIA_TYPES[kind], headers=name)


def _finite(value: Any) -> Any:
    """Return a value with None for numbers that JSON does not have."""
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
