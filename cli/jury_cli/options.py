"""The options of the command: those that give fields of settings, and what several commands share besides.

The fields are read from `options.json`, which is made of the settings models (`jury_judge.settings_model`), so that
help imports none of them. What is typed is checked by the models; here it is only parted and counted.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeVar, cast

import click
from click.core import ParameterSource

from jury_cli.option_groups import ListedOption, Options
from jury_events.ids import is_debate_id, is_run_id
from jury_judge.settings.store import load_settings

if TYPE_CHECKING:
    from jury_events.verdict_scale import VerdictScale
    from jury_judge import CaseFiles
    from jury_judge.settings_model import SettingsModel

    M = TypeVar("M", bound=SettingsModel)


_OWN: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("options.json").read_bytes())
"""By model, then by field; "" has the models that it extends, which come before it."""

_TABLE: dict[str, dict[str, Any]] = {}
"""The same with the fields of the models that are extended, of which the first counts."""

for _model, _rows in _OWN.items():
    _TABLE[_model] = {}
    for _base in _rows[""]:
        _TABLE[_model] = {**_TABLE[_model], **_TABLE[_base], **_TABLE[_model]}
    _TABLE[_model] |= {field: row for field, row in _rows.items() if field}

option = partial(click.option, cls=ListedOption)
"""`click.option` with a `group` of help, and whether it is `rare`."""


def file_option(*names: str, help: str, **more: Any) -> Callable[[Any], Any]:  # noqa: A002  (as of click)
    """An option whose value is the path of a file."""
    return option(*names, metavar="FILE", type=click.Path(path_type=Path), help=help, **more)


def taken(model: "type[M]", given: dict[str, Any]) -> "M":
    """The settings of a model from the options of a command, which are removed there."""
    return model.of(**{name: given.pop(name) for name in model.model_fields})


def asked(given: dict[str, Any]) -> dict[str, Any]:
    """Those of the options of a command that were given, in any way: settings have the defaults of the others."""
    source = click.get_current_context().get_parameter_source
    return {name: value for name, value in given.items() if source(name) is not ParameterSource.DEFAULT}


def fields(model: str, *names: str, of_its_own: bool = False) -> Options:
    """The options that give the fields of a settings model: those named, else all, or all that are of no other."""
    rows = (_OWN if of_its_own else _TABLE)[model]
    # A model may hide a field of those that it extends.
    return tuple([_option(name, rows[name]) for name in names or rows if name and rows[name]])


def _option(name: str, row: dict[str, Any]) -> Callable[[Any], Any]:
    described = {key: row[key] for key in ("metavar", "group", "rare", "help") if key in row}
    if row.get("type") == "flag":
        given: dict[str, Any] = {
            "is_flag": True,
            "default": row.get("default", False),
            "show_default": "/" in row["option"],
        }
    else:
        shown = row.get("default", "") != "" and "[default" not in row["help"]
        given = {"type": _type(row), "multiple": row.get("many", False), "show_default": shown}
        given |= {"default": row["default"]} if "default" in row else {}
        given |= {"callback": partial(pairs, last=row["pairs"] == "last")} if "pairs" in row else {}
    return option(
        row["option"], name, required=row.get("required", False), envvar=row.get("environ"), **given, **described
    )


def _type(row: dict[str, Any]) -> Any:
    """What a value is; of `text` a settings file may give a list."""
    bounds: dict[str, Any] = {"min": row.get("low"), "max": row.get("high")}
    ends = {"min_open": row.get("low_open", False), "max_open": row.get("high_open", False)}
    if "choices" in row:
        return click.Choice(row["choices"])
    match row.get("type"):
        case "int":
            return click.IntRange(**bounds, **ends) if bounds != {"min": None, "max": None} else int
        case "float":
            return click.FloatRange(**bounds, **ends) if bounds != {"min": None, "max": None} else float
        case "folder":
            return click.Path(exists=True, file_okay=False, path_type=Path)
        case "path":
            return click.Path(path_type=Path)
        case _:
            return click.UNPROCESSED if row.get("text") else str


def pairs(
    _context: click.Context, parameter: click.Parameter, values: tuple[str, ...], *, last: bool = False
) -> dict[str, str]:
    """`NAME=VALUE` options as a table, parted at the first equals sign or at the last."""
    table: dict[str, str] = {}
    for value in values:
        name, equals, rest = value.rpartition("=") if last else value.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{value!r} is not {parameter.metavar}", param=parameter)
        if name in table:
            raise click.BadParameter(f"{name} is given twice", param=parameter)
        table[name] = rest
    return table


STORE: Options = fields("Stored")
"""`--store URL`."""


def resolved_store(store_url: str | None) -> str:
    """The URL given, else that of the environment, else the default."""
    return load_settings(os.environ, store_url=store_url).store_url


def settings_of_file(model: str, group: str) -> Options:
    """`--settings FILE`, with the fields of a model of `jury_judge`, which is loaded when the option is given."""

    def read(context: click.Context, _parameter: click.Parameter, path: Path | None) -> None:
        if path is None:
            return
        from jury_judge.settings.settings_file import read_settings, without_variables

        settings = getattr(import_module("jury_judge"), model)
        values = without_variables(read_settings(path, settings), settings, os.environ)
        # Defaults of the call: click itself lets the command line and variables win.
        context.default_map = {**(context.default_map or {}), **{name: _typed(one) for name, one in values.items()}}

    return (
        option(
            "--settings",
            group=group,
            metavar="FILE",
            type=click.Path(path_type=Path),
            is_eager=True,
            expose_value=False,
            callback=read,
            help="Options from a file (YAML), as in limit: 5; those given here win (docs/runs.md).",
        ),
    )


def _typed(value: Any) -> Any:
    """A value of YAML as it is typed: a table as NAME=VALUE, texts of numbers."""
    if isinstance(value, dict):
        return tuple(f"{name}={_typed(one)}" for name, one in value.items())
    if isinstance(value, list):
        return tuple(_typed(one) for one in value)
    return value if isinstance(value, bool | str) else str(value)


def run_id(_context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """A run's id, which is part of its debates' ids."""
    if value is not None and not is_run_id(value):
        raise click.BadParameter(
            f"{value!r} cannot name a run; use 1 to 100 letters, digits, dots, hyphens, underscores", param=parameter
        )
    return value


def debate_ids(_context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """One debate's id, or several."""
    checked_debate_ids([value] if isinstance(value, str) else value, parameter)
    return value


def checked_debate_ids(names: Sequence[str], parameter: click.Parameter | None = None) -> tuple[str, ...]:
    """The names, which must be ids of debates."""
    for one in names:
        if not is_debate_id(one):
            raise click.BadParameter(
                f"{one!r} is not the id of a debate; `jury list` lists the debates", param=parameter
            )
    return tuple(names)


SELECTION: Options = (
    click.argument("debate_ids", metavar="[DEBATE]...", nargs=-1, callback=debate_ids),
    *fields("Selection"),
)
"""Which debates: `[DEBATE]...`, `--run ID` or `--all`, and `--where COND`; `Selection` has the rules between them."""

PUBLIC_KEYS: Options = (
    file_option(
        "--key",
        "keys",
        multiple=True,
        help="Public keys, one a line (`jury seal keygen`), whose signatures of seals are trusted. Repeatable.",
    ),
)
"""`--key FILE`, of public keys."""


F = TypeVar("F", bound=Callable[..., Any])
Form = Literal["plain", "json", "jsonl", "none"]


def json_option(help: str = "Print the report as one JSON object.", group: str = "Results") -> Options:  # noqa: A002  (as of click)
    """`--json`."""
    return (option("--json", "as_json", group=group, is_flag=True, help=help),)


def one_form(*, as_json: bool, as_jsonl: bool) -> Form:
    """How results are printed."""
    if as_json and as_jsonl:
        raise click.UsageError("--json and --jsonl exclude each other")
    return "json" if as_json else "jsonl" if as_jsonl else "plain"


def chosen_tables(
    arguments: Sequence[str], known: Iterable[str], *, full: bool, as_json: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tables that are asked for, and the other arguments.

    Args:
        arguments: as they were given.
        known: the names of tables.
        full: all of them.
        as_json: JSON has every table.
    """
    tables = tuple(name for name in known if full or name in arguments)
    if tables and as_json:
        raise click.UsageError("--json has every table: name none, and leave --full out")
    return tables, tuple(one for one in arguments if one not in tables)


def schema_option(group: str, *reports: str) -> Callable[[F], F]:
    """Prints the schema of the report that `--json` prints, one of several where the command has several."""

    def show(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
        if value:
            from jury_cli.terminal import print_json
            from jury_judge.records.votes import report_schema

            found = [report_schema(name) for name in reports]
            print_json(found[0] if len(found) == 1 else {"oneOf": found})
            context.exit()

    return option(
        "--schema",
        group=group,
        rare=True,
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="Print the JSON Schema of --json, and do nothing else.",
    )


STDIN = "-"


def format_names() -> str:
    """The names of the formats of rows, as a sentence for the help of a command."""
    from jury_judge.settings.cases import format_lines

    return f"Formats of rows: {', '.join(name for name, _ in format_lines())}. jury cases --help says what they are."


class ListingFormats(click.Command):
    """A command whose help ends with the list of formats, from the code that reads them."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The formats, and how their rows are recognised."""
        from jury_judge.settings.cases import format_lines

        super().format_epilog(ctx, formatter)
        with formatter.section("Formats of rows"):
            formatter.write_dl(list(format_lines()))


def case_files(
    options: dict[str, Any],
    hosts: frozenset[str],
    *,
    refuse_labels: bool = True,
    scale: "VerdictScale | None" = None,
) -> "CaseFiles":
    """The case files of the options, which are removed from `options`.

    Args:
        options: of the command.
        hosts: where `http(s):` records may come from.
        refuse_labels: whether labels that are not understood are refused; else they are none.
        scale: of the panel that judges: labels are read in its words.
    """
    from jury_judge.settings.cases import CaseSettings

    paths: tuple[str, ...] = options.pop("paths")
    settings = taken(CaseSettings, options)
    stdin = standard_input(paths)
    return settings.files(paths, hosts, refuse_labels=refuse_labels, stdin=stdin, scale=scale)


def standard_input(paths: Sequence[str]) -> "BinaryIO | None":
    """A copy of standard input where a file is `-`: cases are read twice, in the preflight and in the run."""
    if STDIN not in paths:
        return None
    import shutil
    from tempfile import TemporaryFile

    copy = TemporaryFile(prefix="jury-stdin-")  # noqa: SIM115  (closed with the command)
    click.get_current_context().call_on_close(copy.close)
    shutil.copyfileobj(sys.stdin.buffer, copy)
    return cast("BinaryIO", copy)


def close_with_command(cases: object) -> None:
    """Close a source of cases that reads them from a store, once the command ends."""
    from jury_judge.runs.plan import ListedCases

    if isinstance(cases, ListedCases):
        click.get_current_context().call_on_close(cases.close)


def artifact_hosts() -> frozenset[str]:
    """The hosts from which `http(s):` records may be fetched, from the environment."""
    from jury_judge.settings.store import load_settings

    return load_settings(os.environ).artifact_hosts
