"""`jury demo`: one debate over a bundled case."""

import asyncio
import json
import shlex
from contextlib import aclosing, closing
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any

import click

from jury_cli.exits import Exit
from jury_cli.option_groups import options
from jury_cli.options import PANEL, RUNTIME, SEALS, STORE, resolved_store
from jury_events.text.pluralize import pluralize


@click.command("demo")
@options(PANEL, STORE)
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as JSON.")
@options(SEALS, RUNTIME)
def command(*, as_json: bool, **given: Any) -> int:
    """Run one debate over a bundled case with security-gate and agent-card records.

    Without a panel the jurors are simulated: no key, no server, no model. Each call starts a new debate, on a local Ray
    cluster by default.
    """
    from jury_cli.interrupts import until_interrupted
    from jury_cli.judging import finishing, judging_loop, note_end, note_line
    from jury_cli.live import events_shown
    from jury_cli.terminal import WritingLine, note
    from jury_events.text.visible_text import visible_line
    from jury_judge.sessions.planned_run import PlannedRun
    from jury_judge.sessions.prepared_run import prepared_run
    from jury_judge.settings.run import RunSettings

    settings = RunSettings.of(**given)
    planned = PlannedRun.of_example(settings, f"demo-{datetime.now(UTC):%Y%m%d-%H%M%S}-{token_hex(2)}")
    (debate_id,) = (one for case in planned.cases for one in planned.run.debate_ids(case))
    resume_hint = "the events so far are kept; jury demo starts a new debate"
    with (
        prepared_run(planned, note_line, in_process=False) as ready,
        closing(WritingLine()) as writing,
    ):
        session = ready.session()
        if planned.is_simulated:
            note("The jurors are simulated: rule-based readers. No model is called.")
        note(f"debate {debate_id}: {pluralize(len(planned.loaded.panel.seats), 'juror')}, {planned.loaded.panel.name}")

        async def judge(stopping: asyncio.Event) -> None:
            async with (
                events_shown(session.feed, debate_id, note),
                aclosing(session.execute(stopping, on_chunk=writing.take)) as lines,
            ):
                async for _ in lines:
                    pass

        with judging_loop(settings, on_ray=session.needs_ray, resume_hint=resume_hint) as loop:
            _, interrupted = loop.run(
                until_interrupted(judge, says=finishing(resume_hint), waits_for=session.waits_for)
            )
        note_end(interrupted=interrupted, resume_hint=resume_hint, sealed=session.sealed)
        outcome = session.outcome(interrupted=interrupted, lines=0)
        if outcome.problems:
            note_line(f"the debate could not go on: {visible_line(str(outcome.problems[0].problem), 500)}")
            return Exit.STOPPED
        result = session.result(debate_id)
    if result is None or result["status"] == "unfinished":
        return Exit.INTERRUPTED
    if as_json:
        print(json.dumps(result, ensure_ascii=False, indent=2))
    else:
        _print(result)
    _note_commands(debate_id, None if settings.store_url is None else resolved_store(settings.store_url))
    return Exit.INTERRUPTED if interrupted else _code(result)


def _note_commands(debate_id: str, url: str | None) -> None:
    from jury_cli.terminal import note
    from jury_judge.stores.stores import shown_url

    option = "" if url is None else f" --store {shlex.quote(shown_url(url))}"
    note(f"the whole debate:   jury show {debate_id}{option}")
    note(f"check the record:   jury verify {debate_id}{option}")
    note("judge your own:     jury run CASES.jsonl")


def _print(result: dict[str, Any]) -> None:
    from jury_views.number_formats import of_hundred

    if result["final_verdict"] is not None:
        said = " (simulated jurors)" if result["simulated"] else ""
        print(f"{result['final_verdict']}  {of_hundred(result['final_score'])}{said}")


def _code(result: dict[str, Any]) -> Exit:
    """The exit code of a debate that is over."""
    from jury_cli.terminal import note

    if result["final_verdict"] is None:
        note(f"jury: the debate ended without a verdict ({result['status']}); `jury show` says why")
    elif not result["phase3_judgment"]["quorum_met"]:
        note("jury: the debate had no quorum of jurors; `jury show` says why")
    else:
        return Exit.DONE
    return Exit.NO_VERDICT
