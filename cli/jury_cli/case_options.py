"""Options of the commands that read case files: `run` and `cases`."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, TypeVar

import click

from jury_cli.options import pairs
from jury_events.errors import BadCondition

if TYPE_CHECKING:
    from jury_cases.files import CaseFiles
    from jury_events.conditions import Condition

F = TypeVar("F", bound=Callable[..., Any])

_NAMES = (
    *("artifact_roots", "fields", "case_format", "mappings", "policy_file", "rows", "split"),
    *("where", "case_ids", "sample", "seed", "limit"),
)


def case_options(command: F) -> F:
    """`FILE...`, how files are read, and which of their cases are taken; `case_files` reads them."""
    return _with_case_options(command, required=True)


def optional_case_options(command: F) -> F:
    """The same for a command that can do without files."""
    return _with_case_options(command, required=False)


def _with_case_options(command: F, *, required: bool) -> F:
    for option in (
        click.option("--limit", type=click.IntRange(min=0), help="The first N cases only, after all other choices."),
        click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of --sample."),
        click.option(
            "--sample", type=click.IntRange(min=0), metavar="N", help="N cases drawn at random, in their order."
        ),
        click.option(
            "--case-id",
            "case_ids",
            metavar="GLOB",
            multiple=True,
            help="Cases of such ids, as in refund-*. Repeatable.",
        ),
        click.option(
            "--where",
            metavar="CONDITION",
            multiple=True,
            callback=_conditions,
            help="Only cases that meet a condition, as tags~refund or metadata.level=3. Repeatable: all must be met.",
        ),
        click.option("--split", metavar="NAME", help="The split of a folder that has several, as in test."),
        click.option("--rows", metavar="PATH", help="Where the rows stand in a JSON document, as in results.results."),
        click.option(
            "--policy",
            "policy_file",
            metavar="FILE",
            type=click.Path(path_type=Path),
            help="A text file: the instructions that the agents of all cases had.",
        ),
        click.option(
            "--artifact-root",
            "artifact_roots",
            metavar="FOLDER",
            multiple=True,
            type=click.Path(exists=True, file_okay=False, path_type=Path),
            help="A folder in which records that a case names by their path may lie, besides that of its file. "
            "Repeatable.",
        ),
        click.option(
            "--map",
            "mappings",
            metavar="label:WORD=VERDICT",
            multiple=True,
            help="What a label means, as in label:fail=unsafe_fail,pass=safe_pass; none for no label. Repeatable.",
        ),
        click.option(
            "--format",
            "case_format",
            metavar="NAME",
            help="The form of the rows, as in inspect or anthropic. [default: as each is recognised]",
        ),
        click.option(
            "--field",
            "fields",
            metavar="PART=COLUMN",
            multiple=True,
            callback=pairs,
            help="Where a part of a case stands, as in response=completion, metadata.level=info.level; nothing after = "
            "leaves the part out. Repeatable.",
        ),
        click.argument("paths", metavar="FILE...", nargs=-1, required=required, type=click.Path(path_type=str)),
    ):
        command = option(command)
    return command


def case_files(options: dict[str, Any], hosts: frozenset[str], *, refuse_labels: bool = True) -> "CaseFiles":
    """The case files of the options, which are removed from `options`.

    Args:
        options: of the command.
        hosts: where `http(s):` records may come from.
        refuse_labels: whether labels that are not understood are refused; else they are none.

    Raises:
        CaseFileError: an option cannot be used.
    """
    from jury_cases.files import STDIN, CaseFiles
    from jury_cases.labels import parse_map
    from jury_cases.options import CaseOptions
    from jury_cases.policy_files import read_policy

    paths: tuple[str, ...] = options.pop("paths")
    given = {name: options.pop(name) for name in _NAMES}
    policy_file: Path | None = given["policy_file"]
    mapped = parse_map(given["mappings"])
    chosen = CaseOptions(
        format=given["case_format"],
        fields=given["fields"],
        labels=mapped if refuse_labels else mapped.lenient(),
        policy=None if policy_file is None else read_policy(policy_file),
        rows=given["rows"],
        split=given["split"],
        where=given["where"],
        case_ids=given["case_ids"],
        sample=given["sample"],
        seed=given["seed"],
        limit=given["limit"],
    )
    if STDIN not in paths:
        return CaseFiles(paths, chosen, allowed_hosts=hosts, artifact_roots=given["artifact_roots"])
    # Cases are read twice, in the preflight and in the run: standard input is copied to a file.
    copy = TemporaryFile(prefix="jury-stdin-")  # noqa: SIM115  (closed with the command)
    click.get_current_context().call_on_close(copy.close)
    shutil.copyfileobj(sys.stdin.buffer, copy)
    return CaseFiles(paths, chosen, allowed_hosts=hosts, artifact_roots=given["artifact_roots"], stdin=copy)


def artifact_hosts() -> frozenset[str]:
    """The hosts from which `http(s):` records may be fetched, from the environment."""
    from jury_judge.settings.store import load_settings

    return load_settings(os.environ).artifact_hosts


def _conditions(
    _context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> "tuple[Condition, ...]":
    from jury_events.conditions import parse_conditions

    try:
        return parse_conditions(values)
    except BadCondition as error:
        raise click.BadParameter(str(error), param=parameter) from error
