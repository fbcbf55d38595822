"""`jury votes`: a foreign table of votes, written once in the documented columns."""

from pathlib import Path
from typing import Any

import click

from jury_cli.calls import call
from jury_cli.exits import Exit
from jury_cli.option_groups import grouped, options
from jury_cli.options import fields, file_option
from jury_cli.terminal import note


@grouped("votes", "Columns", "Words", "Result")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@options(fields("VoteReading"))
@file_option(
    "-o",
    "--output",
    group="Result",
    required=True,
    help="The Parquet file to write, for jury stats, gate, calibrate and value.",
)
def command(files: tuple[str, ...], *, output: Path, **said: Any) -> int:
    """Read votes that other judges gave, and write them as one table that the statistics take.

    FILE is CSV, JSON, JSONL, Parquet or Arrow, a row a vote or a row a case. What is said here may stand in a file
    beside it instead: votes.yaml beside votes.csv, whose fields are these options. docs/votes.md explains both.
    """
    from jury_judge.records.votes import VoteReports
    from jury_judge.settings.votes import VoteReading

    written = call(VoteReports(threads=False).votes(files, VoteReading.of(**said), output))
    note(f"{written:,} votes written to {output}")
    return Exit.DONE
