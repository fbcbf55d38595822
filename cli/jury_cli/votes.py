"""`jury votes`: a foreign table of votes, written once in the documented columns."""

from pathlib import Path
from typing import Any

import click

from jury_cli.calls import call
from jury_cli.exits import Exit
from jury_cli.option_groups import grouped
from jury_cli.options import pairs
from jury_cli.vote_options import seat_names
from jury_events.verdict import FAIL, PASS

_GROUPS = {
    "Columns": ("judges", "fields", "label", "annotators", "cluster", "seats"),
    "Words": ("mappings", "order", "categories"),
    "Result": ("output",),
}


@grouped("votes", _GROUPS)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--judges",
    metavar="PATTERN",
    multiple=True,
    help="The columns with the votes of a row on one case, as 'judges.*' (words, or objects with a verdict) or "
    "'judges.*.winner'. [default: 'judges.*' if there is such a column, else a row is a vote] Repeatable.",
)
@click.option(
    "--field",
    "fields",
    metavar="PART=COLUMN",
    multiple=True,
    callback=pairs,
    help="Where a part of a vote stands, as in seat=model, round=turn, case_id=task.id; nothing after = leaves the "
    "part out. Repeatable.",
)
@click.option("--label", metavar="COLUMN", help="The human label, as human.final. [default: label]")
@click.option(
    "--annotators",
    metavar="PATTERN",
    multiple=True,
    help="The columns with the labels of several humans, as 'human.*'. Repeatable.",
)
@click.option(
    "--cluster",
    metavar="COLUMN",
    help="What cases have in common, as question; intervals are over clusters. [default: the case]",
)
@click.option("--seats", metavar="A,B,C", callback=seat_names, help="Only the votes of these seats. [default: all]")
@click.option(
    "--map",
    "mappings",
    metavar="WORD=VERDICT",
    multiple=True,
    help=f"What a word means, as correct={PASS},wrong={FAIL}; none for no vote; label:WORD=VERDICT for labels "
    "alone. Repeatable.",
)
@click.option("--order", metavar="LOW,…,HIGH", help="The verdicts are these words, from low to high.")
@click.option("--categories", metavar="A,B,C", help="The verdicts are these words, without an order.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    required=True,
    type=click.Path(path_type=Path),
    help="The Parquet file to write, for jury stats, gate, calibrate and value.",
)
def command(files: tuple[str, ...], *, output: Path, **said: Any) -> int:
    """Read votes that other judges gave, and write them as one table that the statistics take.

    FILE is CSV, JSON, JSONL, Parquet or Arrow, a row a vote or a row a case. What is said here may stand in a file
    beside it instead: votes.yaml beside votes.csv, whose fields are these options. docs/votes.md explains both.
    """
    from jury_cli.terminal import note
    from jury_judge.records.vote_reports import VoteReports
    from jury_judge.settings.votes import VoteReading

    written = call(VoteReports(threads=False).votes(files, VoteReading.of(**said), output))
    note(f"{written:,} votes written to {output}")
    return Exit.DONE
