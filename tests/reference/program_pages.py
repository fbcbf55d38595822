"""Reference pages that are made from the program: commands, exit codes, HTTP, what does the same in Python."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import yaml
from starlette.testclient import TestClient

from jury_cli import COMMANDS, Exit
from jury_cli.main import jury
from jury_judge import Service
from jury_judge.panels.authoring import prose
from jury_store import MemoryEventStore
from jury_web import AccessPolicy, create_app
from reference.markdown import code, introduction, page, schema_tables, table
from support.exit_codes import ROWS

_RARE = "by `--help-all`"
_DOORS = Path(__file__).parents[1] / "doors" / "doors.yaml"
_READER = "people who call the command, and their scripts"


class Door(NamedTuple):
    """What a command is called, the methods and the HTTP paths that do the same, or in words why there are none."""

    command: str
    methods: list[str] | str
    http: list[str] | str


def doors() -> list[Door]:
    """The rows of `doors.yaml`."""
    return [Door(**row) for row in yaml.safe_load(_DOORS.read_text("utf-8"))]


def commands() -> str:
    """Every command with its options."""
    return page("Commands", _READER, "the commands themselves", introduction("commands"), *_sections())


def _sections() -> Iterator[str]:
    context = click.Context(jury, info_name="jury")
    for name in COMMANDS:
        command = jury.get_command(context, name)
        assert command is not None
        yield f"## jury {name}\n\n{prose(command.help)}\n\n{_options(command)}"
        if isinstance(command, click.Group):
            for sub, one in command.commands.items():
                yield f"### jury {name} {sub}\n\n{prose(one.help)}\n\n{_options(one)}"


def _options(command: click.Command) -> str:
    context = click.Context(command, info_name=command.name)
    rows = []
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            rows.append((code(parameter.make_metavar(context)), "an argument", ""))
        elif isinstance(parameter, click.Option) and not parameter.hidden and parameter.name != "help":
            record = parameter.get_help_record(context)
            names = record[0] if record else "/".join(parameter.opts)
            said = parameter.help or ""
            rows.append((code(names), " ".join(said.split()), _default(parameter)))
    return table(("option", "meaning", "default"), rows) if rows else ""


def _default(option: click.Option) -> str:
    variables = [option.envvar] if isinstance(option.envvar, str) else list(option.envvar or ())
    said = [f"{', '.join(map(code, variables))}"] if variables else []
    if option.show_default and isinstance(option.default, str | int | float) and not isinstance(option.default, bool):
        said.append(code(option.default))
    return ", else ".join(said)


def exit_codes() -> str:
    """What each code means, and by command when it comes."""
    said = field_docs_of_members(Exit)
    meanings = [(str(int(one)), said[one.name]) for one in Exit]
    rows = [
        (row.command if row.command == "every command" else code(row.command), str(row.code), row.when) for row in ROWS
    ]
    return page(
        "Exit codes",
        _READER,
        "`jury_cli.exits` and the calls that tests make for every row",
        "## What they mean",
        table(("code", "meaning"), meanings),
        introduction("exit-codes"),
        "## By command",
        table(("command", "code", "when"), rows),
    )


def field_docs_of_members(kind: type) -> dict[str, str]:
    """What stands under each member of an enumeration."""
    found = re.findall(r'^ {4}([A-Z_]+) = [^\n]*\n {4}"""(.*?)"""', inspect.getsource(kind), re.MULTILINE | re.DOTALL)
    return {name: " ".join(text.split()) for name, text in found}


def openapi() -> dict[str, Any]:
    """The document of `/openapi.json`."""
    app = create_app(Service(MemoryEventStore()), AccessPolicy(frozenset({"jury.test"})))
    document: dict[str, Any] = TestClient(app, base_url="http://jury.test").get("/openapi.json").json()
    return document


def http() -> str:
    """Every path of the HTTP API, and the objects of its requests."""
    document = openapi()
    parts = []
    for path, methods in document["paths"].items():
        for method, one in methods.items():
            parts.append(f"### {method.upper()} {path}\n\n{prose(one.get('description') or one.get('summary'))}")
            rows = [
                (code(given["name"]), given["in"], given.get("description", ""))
                for given in one.get("parameters", ())
                if given["in"] != "path"
            ]
            parts.append(table(("parameter", "in", "meaning"), rows) if rows else "")
            parts.append(f"Answers {', '.join(sorted(one['responses']))}.")
    schemas = document["components"]["schemas"]
    asked = {name: one for name, one in schemas.items() if name in _asked(document, schemas)}
    objects = {name: one for name, one in asked.items() if name != next(iter(asked))}
    return page(
        "HTTP",
        "people who call `jury serve` from programs",
        "`/openapi.json`, which the server has too",
        prose(document["info"].get("description")),
        "## Paths",
        *parts,
        "## Objects of requests",
        schema_tables({**next(iter(asked.values())), "$defs": objects}, next(iter(asked)), {}, "###"),
    )


def _asked(document: dict[str, Any], schemas: dict[str, Any]) -> set[str]:
    """The names of the objects that requests have."""
    found: set[str] = set()
    waiting = [
        one["requestBody"] for path in document["paths"].values() for one in path.values() if "requestBody" in one
    ]
    while waiting:
        for name in re.findall(r"#/components/schemas/(\w+)", str(waiting.pop())):
            if name not in found:
                found.add(name)
                waiting.append(schemas[name])
    return found


def same_elsewhere() -> str:
    """The table of commands, methods and paths."""

    def cell(given: list[str] | str) -> str:
        return given if isinstance(given, str) else ", ".join(map(code, given))

    rows = [(code(door.command), cell(door.methods), cell(door.http)) for door in doors()]
    return page(
        "Command, method, HTTP",
        "people who move between the command, Python and HTTP",
        "`tests/doors/doors.yaml`, whose every name and path tests call",
        introduction("doors"),
        table(("command", "method", "HTTP"), rows),
    )
