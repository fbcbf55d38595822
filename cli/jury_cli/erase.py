"""`jury erase`: delete texts for good, on record."""

import json
import sys
from typing import TYPE_CHECKING

import click

from jury_cli.calls import call, read_from, stored
from jury_cli.exits import Exit
from jury_cli.option_groups import options
from jury_cli.options import STORE, debate_ids, resolved_store
from jury_cli.streams import note
from jury_events.text import pluralize

if TYPE_CHECKING:
    from jury_judge import ErasedTexts, PlannedErasure


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
@options(STORE)
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
    from jury_judge.settings.auditing import Erasure, ErasureScope

    scope = {"debate_id": debate_id, "exchange": exchange, "review": review, "case_id": case_id}
    if dry_run:
        asked = ErasureScope.of(**scope)
        _note_plan(read_from(store_url, lambda records: records.plan_erasure(asked)))
        return Exit.DONE
    ordered = Erasure.of(**scope, by=by, reason=reason)
    if not yes and not sys.stdin.isatty():
        raise click.UsageError("erasing cannot be undone; off a terminal say --yes")

    def agrees(plan: "PlannedErasure") -> bool:
        _note_plan(plan)
        return not plan.texts or yes or click.confirm("Erase these texts for good?", err=True)

    erased = call(stored(store_url).erase(ordered, agrees=agrees, say=note))
    if erased is None:
        note("nothing was erased")
        return Exit.INTERRUPTED
    _print(erased, as_json=as_json)
    beyond = "" if resolved_store(store_url).startswith("sqlite") else _OWN_LOG
    note(f"out of reach: exports, backups and copies of the store{beyond}, what providers keep")
    return Exit.DONE


def _note_plan(plan: "PlannedErasure") -> None:
    note(f"{pluralize(plan.texts, 'text')} ({plan.size} bytes) of {pluralize(len(plan.debate_ids), 'debate')}")
    if plan.ends:
        note(f"{pluralize(plan.ends, 'debate')} not over yet: without texts they cannot go on, and fail")
    if plan.shared:
        note(f"{pluralize(plan.shared, 'text')} of the request stay, because other events refer to them")
    if plan.copies:
        named = ", ".join(plan.copies[:_NAMED]) + (", …" if len(plan.copies) > _NAMED else "")
        note(
            f"{pluralize(len(plan.copies), 'debate')} that it was branched off, or that branched off it, or of a "
            "ladder that carries votes, have copies of its texts, which stay: erase those too, or all debates over "
            f"its case with --case ({named})"
        )


def _print(erased: "ErasedTexts", *, as_json: bool) -> None:
    if as_json:
        fields = {
            "debates": erased.debate_ids,
            "texts": erased.texts,
            "ended": erased.ended,
            "shared": erased.shared,
            "scrubbed": erased.scrubbed,
            "copies": erased.copies,
        }
        print(json.dumps(fields, ensure_ascii=False))
    note(f"{pluralize(erased.texts, 'text')} erased" if erased.texts else "nothing was left to erase")


_NAMED = 5
_OWN_LOG = ", PostgreSQL's write-ahead log and replicas"
