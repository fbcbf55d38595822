"""`jury verify`: check that no record was altered."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jury_judge.cli.exits import Exit
from jury_judge.cli.options import (
    debate_ids,
    processes_option,
    public_key_option,
    resolved_store,
    store_option,
    where_option,
)

if TYPE_CHECKING:
    from jury_events.conditions import Condition
    from jury_replay.integrity import Failure
    from jury_replay.verify import Report

_SHOWN = 20

_WORTH_IT = 5000
"""Debates from which on more processes pay for their start: to check one takes about a millisecond."""


@click.command("verify")
@click.argument("debate_ids", metavar="[DEBATE]...", nargs=-1, callback=debate_ids)
@click.option("--all", "everything", is_flag=True, help="Check the whole store, its positions and seals too.")
@where_option
@public_key_option
@click.option(
    "--checkpoint",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="A checkpoint of this store that was kept elsewhere (`jury seal now`, `jury seal show`); implies --all.",
)
@store_option
@processes_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(
    debate_ids: tuple[str, ...],
    *,
    everything: bool,
    where: "tuple[Condition, ...]",
    key_files: tuple[Path, ...],
    checkpoint: Path | None,
    store_url: str | None,
    processes: int | None,
    as_json: bool,
) -> int:
    """Check hash chains, stream heads, positions, every text and the seals, and name the first bad event.

    Exits with 5 where something was altered. What chains and seals can and cannot show is in docs/verification.md.
    """
    from jury_judge.cli.seal_files import read_keys, read_note
    from jury_judge.cli.terminal import Counting, note
    from jury_judge.debates import must_exist
    from jury_replay.selection import Selection, processes_for
    from jury_replay.verify import verify
    from jury_store.opening import open_store

    everything = everything or checkpoint is not None
    if [bool(debate_ids), everything, bool(where)].count(True) != 1:
        raise click.UsageError("name the debates to check, or --all, or choose with --where COND")
    if key_files and not everything:
        raise click.UsageError("--key is for the seals, which are over the whole log: add --all")
    keys = read_keys(key_files)
    kept = None if checkpoint is None else read_note(checkpoint)
    url = resolved_store(store_url)
    counting = Counting("debates checked")
    done = 0

    def progress(debates: int) -> None:
        nonlocal done
        counting.count(debates - done)
        done = debates

    store = open_store(url, write=False)
    try:
        selection = Selection(debate_ids or None, where=where)
        must_exist(store, selection._replace(debate_ids=None))
        at_once = processes_for(store, selection, processes, worth_it=_WORTH_IT)
        ids = None if everything else [one for chunk in selection.chunks(store) for one in chunk]
        report = verify(store, ids, progress, keys=keys, checkpoint=kept, url=url, processes=at_once)
    finally:
        counting.close()
        store.close()
    if as_json:
        failures = [_object(failure) for failure in report.failures]
        print(json.dumps({"ok": report.ok, **asdict(report), "failures": failures}, ensure_ascii=False, indent=2))
    else:
        _tell(report)
        if everything and (remark := _remark(report, checked_against_checkpoint=checkpoint is not None)):
            note(remark)
    return Exit.DONE if report.ok else Exit.INTEGRITY


def _tell(report: "Report") -> None:
    from jury_judge.views.counted import counted
    from jury_judge.views.visible_text import visible_line

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
    if report.quarantined:
        print(f"{counted(report.quarantined, 'debate')} in quarantine: hashed, and not read")
    if report.seals or report.sealed:
        beyond = f", {counted(report.unsealed, 'event')} not sealed yet" if report.unsealed else ""
        print(f"{counted(report.seals, 'seal')} over {counted(report.sealed, 'event')}{beyond}")


def _remark(report: "Report", *, checked_against_checkpoint: bool) -> str:
    """What this check could not show, and what would."""
    if not report.seals and not checked_against_checkpoint:
        return "the log has no seals: a stream that was computed anew would not be found (see jury seal --help)"
    if not report.signatures:
        return "signatures were not checked: name the public key with --key FILE.pub"
    if not checked_against_checkpoint:
        return "seals are kept in the same database: only --checkpoint, with a note kept elsewhere, shows a cut tail"
    return ""


def _object(failure: "Failure") -> dict[str, Any]:
    """A failure for JSON; its position orders the failures and is left out."""
    fields = failure._asdict()
    del fields["position"]
    return fields
