"""What people do with a store after an import: nothing that was imported may break it for the other debates."""

import io
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rich.console import Console
from starlette.testclient import TestClient

from jury_events import JuryError
from jury_judge import Service
from jury_replay import EVERYTHING, Grid, intact_history, replay, rescore
from jury_store import EventStore, open_store
from jury_views import render_debate
from jury_web import AccessPolicy, create_app, page_routes
from support.command_line import CommandLine

_GATE = AccessPolicy(frozenset({"jury.test"}))
_CASE = {"id": "plain", "question": "q", "response": "a"}


def what_breaks(folder: Path, debates: Collection[str], pages_of: Collection[str]) -> Iterator[str]:
    """Everything that does not end as it should over the store `jury.db` of a folder; nothing when all is well.

    Args:
        folder: of the store.
        debates: those that are looked at one by one.
        pages_of: those whose pages are asked for.
    """
    url = f"sqlite:///{folder / 'jury.db'}"
    yield from _commands(folder)
    store = open_store(url, write=True)
    try:
        yield from _library(store, debates)
    finally:
        store.close()
    store = open_store(url, write=False)
    try:
        yield from _pages(store, pages_of)
    finally:
        store.close()


def _commands(folder: Path) -> Iterator[str]:
    jury = CommandLine(folder)
    case = jury.write("plain.jsonl", _CASE)
    expected: tuple[tuple[tuple[str, ...], set[int]], ...] = (
        (("list",), {0}),
        (("list", "--json"), {0}),
        (("list", "--runs"), {0}),
        (("list", "--group-by", "tags"), {0}),
        (("list", "--where", "tags~refund"), {0}),
        (("db", "rebuild"), {0}),
        (("verify", "--all"), {0, 5}),
        (("replay", "--all", "--processes", "1"), {0, 5}),
        (("rescore", "--all", "--set", "threshold=0.67", "--processes", "1"), {0, 4, 5}),
        (("rescore", "--all", "--recount", "--set", "threshold=0.67", "--processes", "1"), {0, 4, 5}),
        (("export", "--all", "-o", "out"), {0, 5}),
        (("run", case, "--run", "another", "--in-process"), {0}),
        (("run", case, "--run", "another", "--in-process"), {0}),
    )
    for arguments, codes in expected:
        try:
            outcome = jury(*arguments)
        except Exception as error:  # noqa: BLE001  (every exception is reported)
            yield f"jury {' '.join(arguments)}: {error!r}"
            continue
        if outcome.code not in codes or "Traceback" in outcome.err:
            yield f"jury {' '.join(arguments)}: code {outcome.code}: {outcome.err[-500:]}"


def _library(store: EventStore, debates: Collection[str]) -> Iterator[str]:
    for found in replay(store, EVERYTHING):
        if not isinstance(found.debate_id, str):
            yield f"replay: {found!r}"
    list(rescore(store, EVERYTHING, Grid.of({"quorum": (1,)}), mode="recount"))
    for one in debates:
        try:
            row = store.debate(one)
            reading = intact_history(store, one)
            console = Console(file=io.StringIO(), width=120)
            render_debate(reading.events, reading.exchanges, reading.texts, console, full=True, local=reading.local)
        except JuryError as error:
            if one not in str(error) and "the text" not in str(error):
                yield f"show {one}: does not name it: {error}"
        except Exception as error:  # noqa: BLE001  (every exception is reported)
            yield f"show {one}: {error!r}"
        else:
            if row is None:
                yield f"{one} is read and not listed"


def _pages(store: EventStore, debates: Collection[str]) -> Iterator[str]:
    service = Service(store)
    app = create_app(service, _GATE, page_routes(service))
    with ExitStack() as stack:
        client = stack.enter_context(TestClient(app, base_url="http://jury.test"))
        for path in ("/", "/?check=1", "/runs", "/api/debates?limit=100", "/api/runs", "/runs/corpus", "/?lang=ja"):
            yield from _asked(client, path, {200, 404})
        for one in debates:
            for path in (
                f"/debates/{one}",
                f"/debates/{one}/events",
                f"/api/debates/{one}",
                f"/api/debates/{one}/events",
            ):
                yield from _asked(client, path, {200, 404, 422, 500})


def _asked(client: Any, path: str, codes: set[int]) -> Iterator[str]:
    try:
        answer = client.get(path, follow_redirects=True)
    except Exception as error:  # noqa: BLE001  (every exception is reported)
        yield f"GET {path}: {error!r}"
        return
    if answer.status_code not in codes:
        yield f"GET {path}: {answer.status_code}: {answer.text[:300]}"
