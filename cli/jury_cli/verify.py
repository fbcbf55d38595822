"""`jury verify`: check that no record was altered."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jury_cli.exits import Exit
from jury_cli.options import (
    debate_ids,
    processes_option,
    public_key_option,
    resolved_store,
    store_option,
    where_option,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jury_events.conditions import Condition
    from jury_replay.integrity import IntegrityFailure
    from jury_replay.verify import VerifyReport

_SHOWN = 20

_WORTH_IT = 5000
"""From so many debates more processes are faster than their start is slow: checking one takes about a ms."""


@click.command("verify")
@click.argument("debate_ids", metavar="[DEBATE]...", nargs=-1, callback=debate_ids)
@click.option("--all", "everything", is_flag=True, help="Check the whole store, its positions and seals too.")
@where_option
@click.option(
    "--deep",
    is_flag=True,
    help="Replay every debate, too: finds what was computed anew and does not follow from what the models said.",
)
@public_key_option
@click.option(
    "--checkpoint",
    "checkpoint_files",
    metavar="FILE",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A checkpoint of this store that was kept elsewhere (`jury seal now`, `jury seal show`, KEY.last); "
    "implies --all. Repeatable.",
)
@click.option(
    "--witness",
    "witness_files",
    metavar="FILE",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Keys of witnesses, one a line, who must have cosigned a seal or checkpoint; implies --all. Repeatable.",
)
@click.option(
    "--witnesses-required",
    "required",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many of the witnesses are enough. [default: all]",
)
@click.option(
    "--tsa-cert",
    "certificate_files",
    metavar="FILE",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Certificates (PEM) of time-stamping authorities, or of who issued theirs; under one of them a seal must be "
    "time-stamped; implies --all. Repeatable.",
)
@store_option
@processes_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(
    debate_ids: tuple[str, ...],
    *,
    everything: bool,
    where: "tuple[Condition, ...]",
    deep: bool,
    key_files: tuple[Path, ...],
    checkpoint_files: tuple[Path, ...],
    witness_files: tuple[Path, ...],
    required: int | None,
    certificate_files: tuple[Path, ...],
    store_url: str | None,
    processes: int | None,
    as_json: bool,
) -> int:
    """Check hash chains, stream heads, every text and the lists; with --all positions, seals and the schema, too.

    Names the first bad event of each stream and exits with 5 where something was altered. What each check can and
    cannot show is in docs/verification.md.
    """
    from jury_cli.seal_files import read_keys, read_note, read_trust
    from jury_cli.terminal import Counting, note
    from jury_judge.stores.debates import must_be_known, must_exist
    from jury_replay.selection import DebateSelection, processes_for
    from jury_replay.verify import verify
    from jury_store.opening import open_store

    everything = everything or bool(checkpoint_files or witness_files or certificate_files)
    if [bool(debate_ids), everything, bool(where)].count(True) != 1:
        raise click.UsageError("name the debates to check, or --all, or select with --where COND")
    if key_files and not everything:
        raise click.UsageError("--key is for the seals, which are over the whole log: add --all")
    keys = read_keys(key_files)
    trust = read_trust(witness_files, required, certificate_files)
    kept = [read_note(path) for path in checkpoint_files]
    url = resolved_store(store_url)
    counting = Counting("debates checked")
    done = 0

    def progress(debates: int) -> None:
        nonlocal done
        counting.count(debates - done)
        done = debates

    store = open_store(url, write=False)
    try:
        selection = DebateSelection(debate_ids or None, where=where)
        must_exist(store, selection._replace(debate_ids=None))
        must_be_known(store, debate_ids)
        at_once = processes_for(store, selection, processes, worth_it=_WORTH_IT)
        ids = None if everything else [one for chunk in selection.chunks(store) for one in chunk]
        report = verify(
            store, ids, progress, deep=deep, keys=keys, checkpoints=kept, trust=trust, url=url, processes=at_once
        )
    finally:
        counting.close()
        store.close()
    if everything:
        report = replace(report, failures=(*report.failures, *_schema_failures(url)))
    if as_json:
        failures = [_object(failure) for failure in report.failures]
        print(json.dumps({"ok": report.ok, **asdict(report), "failures": failures}, ensure_ascii=False, indent=2))
    else:
        _print(report, everything=everything)
        if everything and (remark := _remark(report, checked_against_checkpoint=bool(kept))):
            note(remark)
    return Exit.DONE if report.ok else Exit.INTEGRITY


def _schema_failures(url: str) -> "Iterator[IntegrityFailure]":
    """A key or guard that the database lacks, or a trigger or view that it should not have."""
    from jury_migrations.comparison import check
    from jury_replay.integrity import IntegrityFailure

    for difference in check(url):
        yield IntegrityFailure("", f"the schema is not the declared one: {difference}")


def _print(report: "VerifyReport", *, everything: bool) -> None:
    from jury_events.text.pluralize import pluralize
    from jury_events.text.visible_text import visible_line

    for failure in report.failures[:_SHOWN]:
        print(visible_line(str(failure), 1000))
    if len(report.failures) > _SHOWN:
        print(f"and {len(report.failures) - _SHOWN} more (--json shows all)")
    erased = f", {pluralize(report.erased, 'text')} erased on record" if report.erased else ""
    looked = ", ".join(
        (
            pluralize(report.debates, "debate"),
            pluralize(report.events, "event"),
            pluralize(report.parts, "text") + erased,
        )
    )
    found = "nothing was altered" if report.ok else pluralize(len(report.failures), "failure")
    print(f"{found}: {looked}")
    done = ["chains", "texts", "lists", *(("positions", "schema") if everything else ())]
    done += ["seals"] if report.seals or report.sealed else []
    beyond = "" if everything else "positions, schema and seals not (--all); "
    print(f"checked: {', '.join(done)}; {beyond}{_replays(report)}")
    if report.quarantined:
        print(f"{pluralize(report.quarantined, 'debate')} in quarantine: hashed, and not read")
    if report.seals or report.sealed:
        beyond = f", {pluralize(report.unsealed, 'event')} not sealed yet" if report.unsealed else ""
        print(f"{pluralize(report.seals, 'seal')} over {pluralize(report.sealed, 'event')}{beyond}")
    if report.witnessed:
        print(f"cosigned by enough witnesses over {pluralize(report.witnessed, 'event')}")
    if report.stamped:
        print(f"time-stamped over {pluralize(report.stamped, 'event')}, {report.stamped_at}")


def _replays(report: "VerifyReport") -> str:
    from jury_events.text.pluralize import pluralize

    if report.replayed is None:
        return "not replayed (--deep replays every debate)"
    erased = (
        f", {pluralize(report.not_replayed or 0, 'debate')} without their erased texts not"
        if report.not_replayed
        else ""
    )
    return f"{pluralize(report.replayed, 'debate')} replayed, and equal{erased}"


def _remark(report: "VerifyReport", *, checked_against_checkpoint: bool) -> str:
    """The limits of this check, and the command that goes beyond."""
    if not report.seals and not checked_against_checkpoint:
        return "the log has no seals: a stream that was computed anew would not be found (see jury seal --help)"
    if not report.signatures:
        return "signatures were not checked: name the public key with --key FILE.pub"
    if not checked_against_checkpoint:
        return "seals are kept in the same database: only --checkpoint, with a note kept elsewhere, shows a cut tail"
    return ""


def _object(failure: "IntegrityFailure") -> dict[str, Any]:
    """A failure for JSON; its position orders the failures and is left out."""
    fields = failure._asdict()
    del fields["position"]
    return fields
