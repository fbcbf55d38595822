"""`jury regress`: recorded debates under today's rules."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jury_cli.exits import Exit
from jury_cli.options import where_option

if TYPE_CHECKING:
    from jury_events.conditions import Condition
    from jury_replay.regression import Regressed


@click.command("regress")
@click.argument("paths", metavar="DIR|CASSETTE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@where_option
@click.option("--rules", type=int, metavar="N", help="Under this version of the rules instead of today's.")
@click.option("--calibration", metavar="FILE|off", help="Under this calibration instead of the recorded one, or none.")
@click.option("--accept", is_flag=True, help="Expect from now on what comes out: written beside the cassettes.")
@click.option("--jsonl", "as_jsonl", is_flag=True, help="Print one JSON object a cassette, with every difference.")
def command(
    paths: tuple[Path, ...],
    *,
    where: "tuple[Condition, ...]",
    rules: int | None,
    calibration: str | None,
    accept: bool,
    as_jsonl: bool,
) -> int:
    """Replay recorded debates under today's rules and prompts, from their recorded answers; no model is called.

    Exits with 1 where a verdict, a score, an event or a prompt comes out otherwise than recorded or accepted.
    """
    from jury_cli.terminal import Counting, note
    from jury_debate.rules_registry import rules_of
    from jury_judge.replays.grids import grid_of
    from jury_replay.cassettes.choosing import is_chosen
    from jury_replay.cassettes.library import cassettes_in
    from jury_replay.errors import CassetteError
    from jury_replay.offline import no_network
    from jury_replay.regression import TODAY, RegressionStatus, regress
    from jury_replay.regression import accept as take_over

    version = TODAY if rules is None else rules
    rules_of(version)
    setting = None if calibration is None else grid_of({"calibration": calibration}).settings[0]
    cassettes = [path for path in sorted({*cassettes_in(paths)}) if is_chosen(path, where)]
    if not cassettes:
        raise CassetteError(f"no cassette has {' and '.join(map(str, where))}; choose otherwise")
    counting = Counting("cassettes replayed")
    counts: Counter[str] = Counter()
    try:
        for path in cassettes:
            with no_network():
                found = regress(path, version, setting)
            taken = accept and found.status is RegressionStatus.CHANGED
            if taken:
                take_over(found)
            counts["accepted" if taken else found.status.value] += 1
            counting.count()
            if as_jsonl:
                print(json.dumps(_object(found), ensure_ascii=False))
            elif found.status is not RegressionStatus.SAME:
                for line in found.shown_lines():
                    print(line)
    finally:
        counting.close()
    print(_tally(counts), file=sys.stderr if as_jsonl else sys.stdout)
    if counts["changed"]:
        note("if this is wanted: the same command with --accept")
    if counts["unreadable"]:
        return Exit.INTEGRITY
    return Exit.FAILED_ON if counts["changed"] else Exit.DONE


def _tally(counts: Counter[str]) -> str:
    from jury_events.text.pluralize import pluralize

    names = ("same", "changed", "accepted", "unreadable")
    said = ", ".join(f"{counts[name]:,} {name}" for name in names if counts[name])
    return f"{pluralize(counts.total(), 'cassette')}: {said}"


def _object(found: "Regressed") -> dict[str, Any]:
    from jury_cli.replay import difference_object

    return {
        "cassette": str(found.path),
        "status": found.status,
        "recorded": found.recorded and found.recorded._asdict(),
        "now": found.now and found.now._asdict(),
        "accepted": found.accepted,
        "detail": found.detail,
        "differences": [difference_object(one) for one in found.differences],
    }
