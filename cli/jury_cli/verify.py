"""`jury verify`: check that no record was altered."""

from contextlib import nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from jury_cli.calls import call, stored
from jury_cli.exits import Exit
from jury_cli.option_groups import options
from jury_cli.options import PUBLIC_KEYS, STORE, checked_debate_ids, fields, file_option
from jury_cli.streams import note
from jury_cli.terminal import Counting, print_json
from jury_events.text import pluralize, visible_line

if TYPE_CHECKING:
    from jury_judge import IntegrityFailure, VerifyReport
    from jury_judge.settings.auditing import Verification

_SHOWN = 20
_OF_A_STORE = ("everything", "where", "checkpoints", "witnesses", "certificates")
_OF_FILES = (
    "files cannot show whether their store recorded more afterwards, as a review: cassettes that are exported with "
    "--seal-key, verified with --key, exclude that up to their export"
)


@click.command("verify")
@click.argument("names", metavar="[DEBATE|FILE]...", nargs=-1)
@options(fields("Verification", "everything", "where", "deep"))
@options(PUBLIC_KEYS)
@file_option(
    "--checkpoint",
    "checkpoints",
    multiple=True,
    help="A checkpoint of this store that was kept elsewhere (`jury seal now`, `jury seal show`, KEY.last); "
    "implies --all. Repeatable.",
)
@file_option(
    "--witness",
    "witnesses",
    multiple=True,
    help="Keys of witnesses, one a line, who must have cosigned a seal or checkpoint; implies --all. Repeatable.",
)
@click.option(
    "--witnesses-required",
    "required",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many of the witnesses are enough. [default: all]",
)
@file_option(
    "--tsa-cert",
    "certificates",
    multiple=True,
    help="Certificates (PEM) of time-stamping authorities, or of who issued theirs; under one of them a seal must be "
    "time-stamped; implies --all. Repeatable.",
)
@options(STORE, fields("Verification", "processes"))
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(names: tuple[str, ...], *, store_url: str | None, as_json: bool, **given: Any) -> int:
    """Check hash chains, stream heads, every text and the lists; with --all positions, seals and the schema, too.

    Names the first bad event of each stream and exits with 5 where something was altered. What each check can and
    cannot show is in docs/verification.md. FILE is a cassette, the file of a run, or a folder of them: no store is
    needed.
    """
    from jury_cli.import_ import cassette_store, named_files
    from jury_judge.seals.key_files import read_keys, read_note, read_trust
    from jury_judge.settings.auditing import Verification

    files = named_files(names)
    if files and (len(files) < len(names) or any(given[name] for name in _OF_A_STORE)):
        raise click.UsageError("cassettes are verified by themselves: leave ids, and what is of a store, out")
    with cassette_store(files, given["keys"]) if files else nullcontext(store_url) as url:
        asked = Verification.of(
            debate_ids=() if files else checked_debate_ids(names),
            everything=given["everything"] or bool(files),
            keys=() if files else read_keys(given["keys"]),
            checkpoints=tuple(map(read_note, given["checkpoints"])),
            trust=read_trust(given["witnesses"], given["required"], given["certificates"]),
            **{name: given[name] for name in ("where", "deep", "processes")},
        )
        report = call(_verified(url, asked))
    if as_json:
        failures = [_object(failure) for failure in report.failures]
        print_json({"ok": report.ok, **asdict(report), "failures": failures})
    else:
        whole = asked.whole and not files
        _print(report, everything=whole)
        if whole and (remark := _remark(report, checked_against_checkpoint=bool(asked.checkpoints))):
            note(remark)
        if files:
            note(_OF_FILES)
    return Exit.DONE if report.ok else Exit.INTEGRITY


async def _verified(store_url: str | None, asked: "Verification") -> "VerifyReport":
    with Counting("debates checked") as counting:
        async with stored(store_url) as records:
            return await records.verify(asked, counting.reach)


def _print(report: "VerifyReport", *, everything: bool) -> None:
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
    for run in report.runs:
        if run.waiting or run.beside or run.ended < run.listed or not run.complete:
            print(visible_line(str(run), 1000))
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
