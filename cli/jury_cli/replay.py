"""`jury replay` shows that verdicts follow from what the models said, `jury regress` what today's rules make of it."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jury_cli.calls import call, stored
from jury_cli.exits import Exit
from jury_cli.option_groups import options
from jury_cli.options import SELECTION, STORE, fields, one_form
from jury_cli.streams import note
from jury_cli.terminal import Counting, print_json
from jury_events.text import pluralize, visible_line

if TYPE_CHECKING:
    from jury_judge import Regressed, ReplayDifference, Replayed
    from jury_judge.recorded_debates.corpus import Corpus
    from jury_judge.settings.debates import Selection


_SHOWN = 3
"""How many differences of a debate are shown; --jsonl has all."""


@click.command("replay")
@options(SELECTION, STORE, fields("Rescoring"))
@click.option("--json", "as_json", is_flag=True, help="Print counts, and what is not equal, as one JSON object.")
@click.option("--jsonl", "as_jsonl", is_flag=True, help="Print one JSON object a debate.")
def command(*, store_url: str | None, processes: int | None, as_json: bool, as_jsonl: bool, **given: Any) -> int:
    """Replay recorded debates from their raw answers, under the rules and prompts that they name.

    No model is asked and no connection is made. Events, texts, prompts and tool answers are compared with the record;
    the first difference is shown. Exits with 5 where a debate does not come out equal.
    """
    from jury_judge.settings.debates import Selection

    one_form(as_json=as_json, as_jsonl=as_jsonl)
    selection = Selection.of(**given)
    counts: Counter[str] = Counter()
    others: list[dict[str, Any]] = []

    def take(one: "Replayed") -> None:
        counts[one.status] += 1
        if as_jsonl:
            print(json.dumps(_object(one), ensure_ascii=False))
        elif as_json and one.status != "equal":
            others.append(_object(one))
        elif not as_json:
            print("".join(f"{line}\n" for line in _lines(one)), end="")

    call(_replayed(store_url, selection, processes, take))
    ok = not counts["different"] and not counts["unreadable"]
    if as_json:
        found = {"ok": ok, "debates": counts.total(), **_table(counts), "not_equal": others}
        print_json(found)
    else:
        print(_tally(counts), file=sys.stderr if as_jsonl else sys.stdout)
    return Exit.DONE if ok else Exit.INTEGRITY


async def _replayed(
    store_url: str | None, selection: "Selection", processes: int | None, take: "Callable[[Replayed], None]"
) -> None:
    with Counting("debates replayed") as counting:
        async with stored(store_url) as records, aclosing(records.replay_many(selection, processes=processes)) as found:
            async for one in found:
                counting.count()
                take(one)


def _table(counts: Counter[str]) -> dict[str, int]:
    return {name: counts[name] for name in ("equal", "different", "erased", "unreadable")}


def _tally(counts: Counter[str]) -> str:
    said = ", ".join(f"{number:,} {name}" for name, number in _table(counts).items() if number)
    return f"{pluralize(counts.total(), 'debate')}: {said}" if counts else "no debates"


def _lines(one: "Replayed") -> Iterator[str]:
    if one.status == "different":
        yield f"{one.debate_id}: different"
        for difference in one.differences[:_SHOWN]:
            yield from (f"  {line}" for line in difference.shown_lines())
        if len(one.differences) > _SHOWN:
            yield f"  and {len(one.differences) - _SHOWN} more (--jsonl shows all)"
    elif one.status == "erased":
        yield f"{one.debate_id}: its texts were erased, on record; what is left is checked by jury verify"
    elif one.status == "unreadable":
        yield visible_line(f"{one.debate_id}: {one.detail}", 1000)


def _object(one: "Replayed") -> dict[str, Any]:
    return {**one._asdict(), "differences": [_difference_object(each) for each in one.differences]}


def _difference_object(difference: "ReplayDifference") -> dict[str, Any]:
    return {**difference._asdict(), "changes": [change._asdict() for change in difference.changes]}


@click.command("regress")
@click.argument("paths", metavar="DIR|CASSETTE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@options(fields("CaseChoice"))
@click.option("--rules", type=int, metavar="N", help="Under this version of the rules instead of today's.")
@click.option("--calibration", metavar="FILE|off", help="Under this calibration instead of the recorded one, or none.")
@click.option("--accept", is_flag=True, help="Expect from now on what comes out: written beside the cassettes.")
@click.option("--jsonl", "as_jsonl", is_flag=True, help="Print one JSON object a cassette, with every difference.")
def regress(
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
    from jury_judge.recorded_debates.corpus import Corpus
    from jury_judge.settings.debates import CaseChoice

    counts: Counter[str] = Counter()

    def take(found: "Regressed", *, taken: bool) -> None:
        counts["accepted" if taken else found.status.value] += 1
        if as_jsonl:
            print(json.dumps(_regressed_object(found), ensure_ascii=False))
        elif found.status != "same":
            for line in found.shown_lines():
                print(line)

    conditions = CaseChoice.of(where=where).where
    corpus = Corpus(paths, where=conditions, rules=rules, calibration=calibration, threads=False)
    call(_regressed(corpus, take, accept=accept))
    print(_cassettes(counts), file=sys.stderr if as_jsonl else sys.stdout)
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


def _cassettes(counts: Counter[str]) -> str:
    names = ("same", "changed", "accepted", "unreadable")
    said = ", ".join(f"{counts[name]:,} {name}" for name in names if counts[name])
    return f"{pluralize(counts.total(), 'cassette')}: {said}"


def _regressed_object(found: "Regressed") -> dict[str, Any]:
    return {
        "cassette": str(found.path),
        "status": found.status,
        "recorded": found.recorded and found.recorded._asdict(),
        "now": found.now and found.now._asdict(),
        "accepted": found.accepted,
        "detail": found.detail,
        "differences": [_difference_object(one) for one in found.differences],
    }
