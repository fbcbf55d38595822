"""What the command can do, Python can do, and HTTP where it should: the table of `docs/python-api.md` holds that."""

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

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

PAGE = (Path(__file__).parents[2] / "docs" / "python-api.md").read_text(encoding="utf-8")
SECTION = PAGE[PAGE.index("## Command, method, HTTP") :]
NONE = "none: "
REASON = 5
"""Words of a reason, at least."""


class Door(NamedTuple):
    """A row: what a command is called, the methods and the HTTP paths that do the same, or why there are none."""

    command: str
    methods: str
    http: str


DOORS = [
    Door(*(cell.strip() for cell in line.strip("|").split(" | ")))
    for line in SECTION.splitlines()
    if line.startswith("| `jury ")
]


def commands() -> Iterator[str]:
    """Every command and subcommand, as the table calls it."""
    context = click.Context(jury)
    for name in COMMANDS:
        command = jury.get_command(context, name)
        if isinstance(command, click.Group):
            yield from (f"jury {name} {one}" for one in command.commands)
        else:
            yield f"jury {name}"


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


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
    assert sorted(commands()) == sorted(quoted(door.command)[0] for door in DOORS)


@pytest.mark.parametrize("door", DOORS, ids=lambda door: quoted(door.command)[0])
def test_a_command_is_a_method_or_says_why_not(door: Door) -> None:
    assert quoted(door.methods) or len(door.methods.removeprefix(NONE).split()) >= REASON
    assert bool(quoted(door.methods)) != door.methods.startswith(NONE)
    for name in quoted(door.methods):
        assert callable(named(name)), name
        assert inspect.getdoc(named(name)), name
        assert not any(part.startswith("_") for part in name.split(".")), name


@pytest.mark.parametrize("door", DOORS, ids=lambda door: quoted(door.command)[0])
def test_a_command_has_a_path_or_says_why_not(door: Door, described: set[str]) -> None:
    if door.http.startswith(NONE):
        assert len(door.http.removeprefix(NONE).split()) >= REASON
    else:
        assert quoted(door.http)
        assert set() == set(quoted(door.http)) - described


def test_every_path_is_that_of_a_row_or_is_listed_below(service: Service, described: set[str]) -> None:
    below = SECTION[SECTION.rindex("| `jury ") :]
    listed = {path.split()[-1] for path in quoted(below)} | {
        path.split()[-1] for door in DOORS if not door.http.startswith(NONE) for path in quoted(door.http)
    }
    routers = (debates, exchanges, live, reviews, runs, submissions)
    routed = paths([route for one in routers for route in one.router.routes]) | paths(page_routes(service))

    assert {one.split()[-1] for one in described} <= routed
    assert set() == routed - listed
