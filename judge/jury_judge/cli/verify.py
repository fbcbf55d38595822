"""`jury verify`: check that no record was altered."""

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from jury_judge.cli.exits import Exit
from jury_judge.cli.options import debate_ids, resolved_store, store_option

if TYPE_CHECKING:
    from jury_replay.integrity import Failure

_SHOWN = 20


@click.command("verify")
@click.argument("debate_ids", metavar="[DEBATE]...", nargs=-1, callback=debate_ids)
@click.option("--all", "everything", is_flag=True, help="Check the whole store, its positions too.")
@store_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(debate_ids: tuple[str, ...], *, everything: bool, store_url: str | None, as_json: bool) -> int:
    """Check hash chains, stream heads, positions and every text, and name the first bad event.

    Exits with 5 where something was altered. What a chain can and cannot show is in docs/verification.md.
    """
    from jury_judge.cli.terminal import counted, is_live, note
    from jury_judge.views.visible_text import visible_line
    from jury_replay.verify import verify
    from jury_store.opening import open_store

    if bool(debate_ids) == everything:
        raise click.UsageError("name the debates to check, or --all")

    def progress(debates: int) -> None:
        if is_live("auto"):
            print(f"\r{debates} debates checked", end="", file=sys.stderr, flush=True)

    store = open_store(resolved_store(store_url), write=False)
    try:
        report = verify(store, list(debate_ids) or None, progress)
    finally:
        store.close()
    if is_live("auto"):
        note("")
    if as_json:
        failures = [_object(failure) for failure in report.failures]
        print(json.dumps({"ok": report.ok, **asdict(report), "failures": failures}, ensure_ascii=False, indent=2))
        return Exit.DONE if report.ok else Exit.INTEGRITY
    for failure in report.failures[:_SHOWN]:
        print(visible_line(str(failure), 1000))
    if len(report.failures) > _SHOWN:
        print(f"and {len(report.failures) - _SHOWN} more (--json shows all)")
    erased = f", {counted(report.erased, 'text')} erased on record" if report.erased else ""
    looked = ", ".join(
        (counted(report.debates, "debate"), counted(report.events, "event"), counted(report.parts, "text") + erased)
    )
    found = "nothing was altered" if report.ok else counted(len(report.failures), "failure")
    print(f"{found}: {looked}")
    return Exit.DONE if report.ok else Exit.INTEGRITY


def _object(failure: "Failure") -> dict[str, Any]:
    """A failure for JSON; its position orders the failures and is left out."""
    fields = failure._asdict()
    del fields["position"]
    return fields
