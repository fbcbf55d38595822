"""`jury regress`: recorded debates under today's rules."""

import json
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jury_cli.calls import call
from jury_cli.exits import Exit
from jury_cli.option_groups import options
from jury_cli.options import fields
from jury_cli.terminal import Counting, note
from jury_events.text import pluralize

if TYPE_CHECKING:
    from jury_judge import Regressed
    from jury_judge.replays.corpus import Corpus


@click.command("regress")
@click.argument("paths", metavar="DIR|CASSETTE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@options(fields("CaseChoice"))
@click.option("--rules", type=int, metavar="N", help="Under this version of the rules instead of today's.")
@click.option("--calibration", metavar="FILE|off", help="Under this calibration instead of the recorded one, or none.")
@click.option("--accept", is_flag=True, help="Expect from now on what comes out: written beside the cassettes.")
@click.option("--jsonl", "as_jsonl", is_flag=True, help="Print one JSON object a cassette, with every difference.")
def command(
    paths: tuple[Path, ...],
    *,
    where: tuple[str, ...],
    rules: int | None,
    calibration: str | None,
    accept: bool,
    as_jsonl: bool,
) -> int:
    """Replay recorded debates under today's rules and prompts, from their recorded answers; no model is called.

    Exits with 1 where a verdict, a score, an event or a prompt comes out otherwise than recorded or accepted.
    """
    from jury_judge.replays.corpus import Corpus
    from jury_judge.settings.debates import CaseChoice

    counts: Counter[str] = Counter()

    def take(found: "Regressed", *, taken: bool) -> None:
        counts["accepted" if taken else found.status.value] += 1
        if as_jsonl:
            print(json.dumps(_object(found), ensure_ascii=False))
        elif found.status != "same":
            for line in found.shown_lines():
                print(line)

    conditions = CaseChoice.of(where=where).where
    corpus = Corpus(paths, where=conditions, rules=rules, calibration=calibration, threads=False)
    call(_regressed(corpus, take, accept=accept))
    print(_tally(counts), file=sys.stderr if as_jsonl else sys.stdout)
    if counts["changed"]:
        note("if this is wanted: the same command with --accept")
    if counts["unreadable"]:
        return Exit.INTEGRITY
    return Exit.FAILED_ON if counts["changed"] else Exit.DONE


async def _regressed(corpus: "Corpus", take: "Callable[..., None]", *, accept: bool) -> None:
    with Counting("cassettes replayed") as counting:
        async with aclosing(corpus.regress()) as results:
            async for found in results:
                taken = accept and found.status == "changed"
                if taken:
                    await corpus.accept(found)
                counting.count()
                take(found, taken=taken)


def _tally(counts: Counter[str]) -> str:
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
