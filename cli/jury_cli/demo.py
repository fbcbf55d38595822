"""`jury demo`: one debate over a bundled case."""

import asyncio
import os
import shlex
import time
from collections.abc import Iterator
from contextlib import aclosing, closing
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any

import click

from jury_cli.exits import Exit
from jury_cli.option_groups import options
from jury_cli.options import STORE, fields, resolved_store
from jury_cli.streams import note
from jury_cli.terminal import WritingLine, note_wrapped, print_json
from jury_events.text import pluralize, visible_line


@click.command("demo")
@options(fields("PanelSettings"), STORE)
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as JSON.")
@options(fields("SealSettings"), fields("RuntimeSettings"))
def command(*, as_json: bool, **given: Any) -> int:
    """Run one debate over a bundled case with security-gate and agent-card records.

    Without a panel the jurors are simulated: no key, no server, no model. Each call starts a new debate, on a local Ray
    cluster by default.
    """
    for line in _starting(**given):  # before anything is imported that takes long
        note_wrapped(line)
    from jury_cli.event_loops import finishing, judging_loop, note_end, note_line, until_interrupted
    from jury_cli.live import events_shown
    from jury_cli.views.cases import lines_of_case
    from jury_judge.runs.plan import RunPlan
    from jury_judge.runs.session import judging_session
    from jury_judge.settings.run import RunSettings

    settings = RunSettings.of(**given)
    planned = RunPlan.of_example(settings, f"demo-{datetime.now(UTC):%Y%m%d-%H%M%S}-{token_hex(2)}")
    (case,) = planned.cases
    (debate_id,) = planned.run.debate_ids(case)
    resume_hint = f"the events so far are kept; {typed_command()} demo starts a new debate"
    with (
        judging_session(planned, note_line, in_process=False) as session,
        closing(WritingLine()) as writing,
    ):
        session.set_up()
        on_chunk = None if planned.loaded.is_simulated else writing.take  # a simulated judge writes all at once
        if planned.loaded.is_simulated:
            note("The jurors are simulated: rule-based readers. No model is called.")
        note(f"debate {debate_id}: {pluralize(len(planned.loaded.panel.seats), 'juror')}, {planned.loaded.panel.name}")
        for line in lines_of_case(case):
            note_wrapped(line)

        async def judge(stopping: asyncio.Event) -> None:
            async with (
                events_shown(session.feed, debate_id, note_wrapped, reasons=True),
                aclosing(session.execute(stopping, on_chunk=on_chunk)) as lines,
            ):
                async for _ in lines:
                    pass

        began = time.monotonic()
        with judging_loop(settings, on_ray=session.needs_ray, resume_hint=resume_hint) as loop:
            if session.needs_ray:
                note(f"Ray runs after {time.monotonic() - began:.1f} s; its actors start …")
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
    _print(result, as_json=as_json)
    _note_commands(debate_id, None if settings.store_url is None else resolved_store(settings.store_url))
    return Exit.INTERRUPTED if interrupted else _code(result)


def _starting(*, in_process: bool, ray_address: str | None, panel_name: str | None, **_others: Any) -> Iterator[str]:
    if in_process:
        yield "one debate in this process; without --in-process its jurors are actors of a local Ray cluster"
        return
    jurors = "three jurors" if panel_name is None else "the jurors"
    where = "a local Ray cluster" if ray_address is None else f"the Ray cluster at {ray_address}"
    yield f"one debate on {where}: {jurors}, the final judge and two helpers start, each a process"
    if ray_address is None:
        yield "this takes 6 to 15 s, longer on a busy machine; --in-process starts no process and takes 2 to 4 s"


def _note_commands(debate_id: str, url: str | None) -> None:
    from jury_judge.store_access.stores import shown_url

    option = "" if url is None else f" --store {shlex.quote(shown_url(url))}"
    jury = typed_command()
    note(f"the whole debate:   {jury} show {debate_id}{option}")
    note(f"check the record:   {jury} verify {debate_id}{option}")
    note(f"judge your own:     {jury} run CASES.jsonl")


def _print(result: dict[str, Any], *, as_json: bool) -> None:
    from jury_cli.views.result_line import ended_lines

    if as_json:
        print_json(result)
    elif result["final_verdict"] is not None:
        print(next(ended_lines(result)))  # the reason was said as it came


def _code(result: dict[str, Any]) -> Exit:
    if result["final_verdict"] is None:
        note(f"jury: the debate ended without a verdict ({result['status']}); `jury show` says why")
    elif not result["phase3_judgment"]["quorum_met"]:
        note("jury: the debate had no quorum of jurors; `jury show` says why")
    else:
        return Exit.DONE
    return Exit.NO_VERDICT


_BY_UV = "UV_RUN_RECURSION_DEPTH"
"""`uv run` sets it in the processes that it starts, `uvx` does not."""


def typed_command() -> str:
    """`jury`, or `uv run jury`, with which this process was started."""
    return "uv run jury" if _BY_UV in os.environ else "jury"
