"""`jury fork`: branch a debate at an event and run the branch."""

import asyncio
import shlex
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from jury_cli.exits import Exit
from jury_cli.option_groups import options
from jury_cli.options import debate_ids, fields, resolved_store
from jury_cli.streams import note
from jury_cli.terminal import WritingLine, print_json
from jury_events.text import pluralize, visible_line

if TYPE_CHECKING:
    from jury_judge.runs.forking import Fork, PreparedFork
    from jury_judge.settings.run import ForkSettings


@click.command("fork")
@click.argument("debate_id", metavar="DEBATE", callback=debate_ids)
@click.option(
    "--at",
    required=True,
    metavar="EVENT",
    help="The last event that is kept: its number or its id, as round-2/started; `jury show DEBATE --events` has both.",
)
@options(fields("ForkSettings"))
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as JSON.")
def command(*, debate_id: str, at: str, as_json: bool, **given: Any) -> int:
    """Branch a debate at any event, under other settings, and run the branch to its end.

    Answers up to the event are reused without calling a model; the branch is a new debate, and its origin does not
    change. Without --panel the settings are those of the origin, except for those given here. The same command again
    resumes the same branch.
    """
    from jury_cli.event_loops import note_line
    from jury_cli.streams import note
    from jury_judge.runs.forking import prepared_fork
    from jury_judge.settings.run import ForkSettings
    from jury_judge.store_access.stores import shown_url

    settings = ForkSettings.of(**given)
    with prepared_fork(debate_id, at, settings, note_line) as prepared:
        fork = prepared.fork
        if prepared.simulated:
            note("The jurors are simulated: rule-based readers. No model is called.")
        note(_introduced(fork))
        interrupted = False
        if not fork.over:
            interrupted, problem = _resume(prepared, settings)
            if problem is not None:
                return _stopped(problem)
        code = _print(fork.debate_id, prepared.result(), as_json=as_json)
    there = (
        "" if settings.store_url is None else f" --store {shlex.quote(shown_url(resolved_store(settings.store_url)))}"
    )
    note(f"the whole debate:   jury show {fork.debate_id}{there}")
    note(f"beside its origin:  jury compare {fork.origin} {fork.debate_id}{there}")
    return Exit.INTERRUPTED if interrupted else code


def _introduced(fork: "Fork") -> str:
    kept = f"branches off {fork.origin} after event {fork.version}"
    reused = f"{pluralize(fork.reused, 'recorded call')} reused, none of them repeated"
    state = ", judged before" if fork.over else ", resumed" if fork.stored else ""
    return f"debate {fork.debate_id} {kept}: {reused}{state}"


def _resume(prepared: "PreparedFork", settings: "ForkSettings") -> tuple[bool, BaseException | None]:
    """Store the branch if it is new, and run it; returns whether that was interrupted, and why it could not go on."""
    from jury_cli.event_loops import finishing, judging_loop, note_end, until_interrupted
    from jury_cli.live import events_shown

    fork = prepared.fork
    resume_hint = f"the same command resumes the branch {fork.debate_id}"
    with closing(WritingLine()) as writing:

        async def resume(_stopping: asyncio.Event) -> BaseException | None:
            return await prepared.run(
                writing.take, lambda stored: events_shown(prepared.feed, fork.debate_id, note, after=stored)
            )

        with judging_loop(settings, on_ray=settings.asked_in_process is False, resume_hint=resume_hint) as loop:
            problem, interrupted = loop.run(
                until_interrupted(resume, says=finishing(resume_hint), waits_for=prepared.actors.waits_for)
            )
    note_end(interrupted=interrupted, resume_hint=resume_hint)
    return interrupted, problem


def _stopped(problem: BaseException) -> Exit:
    note(f"jury: the branch could not go on: {visible_line(str(problem), 500)}")
    note("jury: mend the cause; the same command resumes it")
    return Exit.STOPPED


def _print(debate_id: str, result: dict[str, Any], *, as_json: bool) -> Exit:
    from jury_cli.views.result_line import ended_lines

    verdict = result["final_verdict"]
    if as_json:
        print_json(result)
    elif verdict is not None:
        print(*ended_lines(result, debate_id), sep="\n")
    if verdict is None:
        note(f"jury: debate {debate_id} has no verdict ({result['status']})")
        return Exit.STOPPED if result["status"] == "unfinished" else Exit.NO_VERDICT
    if not result["phase3_judgment"]["quorum_met"]:
        note(f"jury: debate {debate_id} had no quorum of jurors; `jury show` says why")
        return Exit.NO_VERDICT
    return Exit.DONE
