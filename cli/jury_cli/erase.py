"""`jury erase`: delete texts for good, on record."""

import json
import sys
import time
from typing import TYPE_CHECKING

import click

from jury_cli.exits import Exit
from jury_cli.options import debate_ids, resolved_store, store_option

if TYPE_CHECKING:
    from jury_replay.erasure import ErasureOrder
    from jury_store.event_store import EventStore
    from jury_store.sql_store import SqlEventStore


def _debate(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    return None if value is None else str(debate_ids(context, parameter, value))


def _exchange(
    context: click.Context, parameter: click.Parameter, value: tuple[str, str] | None
) -> tuple[str, str] | None:
    return None if value is None else (str(debate_ids(context, parameter, value[0])), value[1])


def _review(
    context: click.Context, parameter: click.Parameter, value: tuple[str, int] | None
) -> tuple[str, int] | None:
    return None if value is None else (str(debate_ids(context, parameter, value[0])), value[1])


@click.command("erase")
@click.argument("debate_id", metavar="[DEBATE]", required=False, callback=_debate)
@click.option(
    "--exchange",
    nargs=2,
    metavar="DEBATE EXCHANGE",
    callback=_exchange,
    help="What one model call said and was given, and what came of it.",
)
@click.option(
    "--review",
    nargs=2,
    type=(str, click.IntRange(min=1)),
    metavar="DEBATE NUMBER",
    callback=_review,
    help="The reason that a person gave for a review, or for its withdrawal.",
)
@click.option("--case", "case_id", metavar="ID", help="All debates over this case, of all runs.")
@click.option("--by", metavar="WHO", help="Who erases; recorded for ever.")
@click.option("--reason", metavar="WHY", help="Why, in one line without personal data; recorded for ever.")
@click.option("--dry-run", is_flag=True, help="Only print what would be erased.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@store_option
@click.option("--json", "as_json", is_flag=True, help="Print what went as JSON.")
def command(
    debate_id: str | None,
    *,
    exchange: tuple[str, str] | None,
    review: tuple[str, int] | None,
    case_id: str | None,
    by: str | None,
    reason: str | None,
    dry_run: bool,
    yes: bool,
    store_url: str | None,
    as_json: bool,
) -> int:
    """Erase the texts of a debate, of one model call, of a review or of all debates over a case; for good.

    Who, when and why is recorded with it; ids, labels, verdicts and scores stay, and the log still verifies. Calling it
    again finishes what was interrupted. What no erasure reaches is in docs/erasure.md.
    """
    from jury_cli.terminal import note
    from jury_replay.erasure import ErasureOrder
    from jury_store.opening import open_store

    if [bool(debate_id), exchange is not None, review is not None, case_id is not None].count(True) != 1:
        raise click.UsageError("name a debate, or --exchange DEBATE EXCHANGE, or --review DEBATE NUMBER, or --case ID")
    if not dry_run and not (by and reason):
        raise click.UsageError("say --by WHO and --reason WHY: both are recorded")
    if not dry_run and not yes and not sys.stdin.isatty():
        raise click.UsageError("erasing cannot be undone; off a terminal say --yes")
    one, scope = _scope(debate_id, exchange, review, case_id)
    store = open_store(resolved_store(store_url), write=not dry_run, run="erase")
    try:
        if not dry_run:
            store.require_eraser()
        ids = _debates(store, one, case_id)
        texts = _note_plan(store, ids, scope)
        # Branches do not have the reviews of their origin.
        copies = _copies(store, one) if one is not None and review is None else []
        if dry_run:
            return Exit.DONE
        if texts and not yes and not click.confirm("Erase these texts for good?", err=True):
            note("nothing was erased")
            return Exit.INTERRUPTED
        return _erase(store, ids, ErasureOrder(str(by), str(reason), scope), copies, as_json=as_json)
    finally:
        store.close()


def _scope(
    debate_id: str | None, exchange: tuple[str, str] | None, review: tuple[str, int] | None, case_id: str | None
) -> tuple[str | None, str]:
    """The debate (None: all over the case), and the scope of its erasure."""
    if exchange is not None:
        return exchange
    if review is not None:
        return review[0], f"review/{review[1]}"
    return debate_id, "debate" if case_id is None else "case"


def _debates(store: "EventStore", one: str | None, case_id: str | None) -> list[str]:
    from jury_replay.erasure import debates_over

    return [one] if one is not None else debates_over(store, str(case_id))


def _note_plan(store: "EventStore", ids: list[str], scope: str) -> int:
    """Note what will be erased; returns how many texts."""
    from jury_cli.terminal import note
    from jury_events.text.pluralize import pluralize
    from jury_replay.erasure import plan_erasure

    texts = shared = size = ends = 0
    for debate_id in ids:
        (record,) = store.histories([debate_id])
        plan = plan_erasure(record, scope)
        texts += len(plan.parts)
        shared += plan.shared
        ends += plan.ends
        size += sum(len(record.parts[digest].content) for digest in plan.parts)
    note(f"{pluralize(texts, 'text')} ({size} bytes) of {pluralize(len(ids), 'debate')}")
    if ends:
        note(f"{pluralize(ends, 'debate')} not over yet: without texts they cannot go on, and fail")
    if shared:
        note(f"{pluralize(shared, 'text')} of the request stay, because other events refer to them")
    return texts


def _copies(store: "EventStore", debate_id: str) -> list[str]:
    """Note which branches have copies; returns their ids."""
    from jury_cli.terminal import note
    from jury_events.text.pluralize import pluralize
    from jury_replay.erasure import debates_with_copies

    copies = debates_with_copies(store, debate_id)
    if copies:
        named = ", ".join(copies[:_NAMED]) + (", …" if len(copies) > _NAMED else "")
        note(
            f"{pluralize(len(copies), 'debate')} that it was branched off, or that branched off it, have copies of its "
            f"texts, which stay: erase those too, or all debates over its case with --case ({named})"
        )
    return copies


def _erase(store: "SqlEventStore", ids: list[str], order: "ErasureOrder", copies: list[str], *, as_json: bool) -> int:
    from jury_cli.terminal import note
    from jury_events.text.pluralize import pluralize
    from jury_replay.erasure import erase
    from jury_store.errors import ScrubRefused

    texts = ended = shared = 0
    for debate_id in ids:
        erased = erase(store, debate_id, order, time.time_ns() // 1000)
        texts += erased.texts
        ended += erased.ended
        shared += erased.shared
    scrubbed = True
    try:
        # Also where nothing went: an earlier call may not have come so far.
        store.scrub()
    except ScrubRefused as refused:
        scrubbed = False
        note(f"jury: {refused}")
    if as_json:
        fields = {"debates": ids, "texts": texts, "ended": ended, "shared": shared, "scrubbed": scrubbed}
        print(json.dumps({**fields, "copies": copies}, ensure_ascii=False))
    note(f"{pluralize(texts, 'text')} erased" if texts else "nothing was left to erase")
    note(f"out of reach: exports, backups and copies of the store{_OWN_LOG.get(store.kind, '')}, what providers keep")
    return Exit.DONE


_NAMED = 5
_OWN_LOG = {"postgresql": ", PostgreSQL's write-ahead log and replicas"}
