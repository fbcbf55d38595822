"""What the command can do, Python can do, and HTTP where it should: the table of `doors.yaml` says so."""

import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import click
import pytest
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.testclient import TestClient

import jury_judge
from jury_cli import COMMANDS
from jury_cli.main import jury
from jury_judge import Service
from jury_store import MemoryEventStore
from jury_web import AccessPolicy, create_app, page_routes
from jury_web.api import debates, exchanges, live, reviews, runs, submissions
from reference.program_pages import Door, doors
from support.each_row import each_row

NONE = "none: "
REASON = 5
"""Words of a reason, at least."""
OF_NO_COMMAND = {
    *("/api/debates/{debate_id}/ws", "/api/health", "/metrics", "/openapi.json", "/schemas/{name}.json", "/login"),
    *("/", "/runs", "/runs/{run_id}", "/runs/{run_id}/stats", "/drift", "/drift/{drift_id}", "/compare", "/static"),
    *("/debates/{debate_id}", "/debates/{debate_id}/events", "/debates/{debate_id}/exchanges/{number}"),
    *("/debates/{debate_id}/texts/{part}", "/debates/{debate_id}/export.html"),
    *("/debates/{debate_id}/transcripts/{scenario}", "/debates/{debate_id}/transcripts/{scenario}/{item}"),
    *("/reviews", "/reviews/{debate_id}", "/reviews/{debate_id}/texts/{part}", "/reviewers"),
    *("/reviews/{debate_id}/transcripts/{scenario}", "/reviews/{debate_id}/transcripts/{scenario}/{item}"),
}
"""Paths that are no other door of a command: those of the server, and its pages."""


DOORS = doors()


def commands() -> Iterator[str]:
    """Every command and subcommand, as the table calls it."""
    context = click.Context(jury)
    for name in COMMANDS:
        command = jury.get_command(context, name)
        if isinstance(command, click.Group):
            yield from (f"jury {name} {one}" for one in command.commands)
        else:
            yield f"jury {name}"


def named(name: str) -> Any:
    """`Records.verify` of `jury_judge`, or a function by its whole path."""
    if name.startswith("jury_judge."):
        module, _, function = name.rpartition(".")
        return getattr(import_module(module), function)
    found: Any = jury_judge
    for part in name.split("."):
        found = getattr(found, part)
    return found


@pytest.fixture(scope="module")
def service() -> Service:
    return Service(MemoryEventStore())


@pytest.fixture(scope="module")
def described(service: Service) -> set[str]:
    """The operations of the OpenAPI document, as `GET /api/runs`."""
    policy = AccessPolicy(frozenset({"jury.test"}))
    document = TestClient(create_app(service, policy), base_url="http://jury.test").get("/openapi.json").json()
    return {f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods}


def paths(routes: list[BaseRoute]) -> set[str]:
    return {one.path for one in routes if isinstance(one, Route | WebSocketRoute | Mount)}


def test_every_command_has_one_row() -> None:
    assert sorted(commands()) == sorted(door.command for door in DOORS)


@each_row("door", DOORS, ids=[door.command for door in DOORS])
def test_a_command_is_a_method_or_says_why_not(door: Door) -> None:
    if isinstance(door.methods, str):
        assert door.methods.startswith(NONE)
        assert len(door.methods.removeprefix(NONE).split()) >= REASON
        return
    for name in door.methods:
        assert callable(named(name)), name
        assert inspect.getdoc(named(name)), name
        assert not any(part.startswith("_") for part in name.split(".")), name


@each_row("door", DOORS, ids=[door.command for door in DOORS])
def test_a_command_has_a_path_or_says_why_not(door: Door, described: set[str]) -> None:
    if isinstance(door.http, str):
        assert door.http.startswith(NONE)
        assert len(door.http.removeprefix(NONE).split()) >= REASON
    else:
        assert door.http
        assert set() == set(door.http) - described


def test_every_path_is_that_of_a_row_or_is_listed_below(service: Service, described: set[str]) -> None:
    listed = {
        path.split()[-1] for door in DOORS if not isinstance(door.http, str) for path in door.http
    } | OF_NO_COMMAND
    routers = (debates, exchanges, live, reviews, runs, submissions)
    routed = paths([route for one in routers for route in one.router.routes]) | paths(page_routes(service))

    assert {one.split()[-1] for one in described} <= routed
    assert set() == routed - listed
