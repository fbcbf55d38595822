"""`jury demo`: one debate over a bundled case."""

import asyncio
import json
import os
import shlex
from contextlib import aclosing, closing
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any

import click

from jury_cli.exits import Exit
from jury_cli.options import (
    panel_options,
    price_list,
    resolved_store,
    runtime_options,
    seal_options,
    simulated,
    store_option,
)


@click.command("demo")
@panel_options
@store_option
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as JSON.")
@seal_options
@runtime_options
def command(**options: Any) -> int:
    """Run one debate over a bundled case with security-gate and agent-card records.

    Without a panel the jurors are simulated: no key, no server, no model. Each call starts a new debate, on a local Ray
    cluster by default.
    """
    return _demo(**options)


def _demo(
    *,
    panel_name: str | None,
    preset: str | None,
    language: str | None,
    max_rounds: int | None,
    threshold: float | None,
    method: str | None,
    judge_model: str | None,
    store_url: str | None,
    as_json: bool,
    seal_key: Path | None,
    seal_last: Path | None,
    seal_every: float,
    in_process: bool,
    ray: bool,
    ray_address: str | None,
    ray_open_cluster: bool,
    replicas: int | None,
    coordinators: int | None,
    simulate: dict[str, str],
) -> int:
    from jury_cases.examples import load_example
    from jury_cli.interrupts import until_interrupted
    from jury_cli.judging import finishing, judging_loop, make_jury, note_end, note_line, sealing_of
    from jury_cli.live import events_shown
    from jury_cli.terminal import WritingLine, note
    from jury_events.text.visible_text import visible_line
    from jury_judge.panels.files import load_panel
    from jury_judge.panels.variables import Overrides
    from jury_judge.run_session import RunSession
    from jury_judge.runs.preflight import preflighted
    from jury_judge.runs.run import Run
    from jury_judge.runs.run_progress import NoListener
    from jury_judge.settings.runtime import RuntimeSettings
    from jury_judge.stores.debates import read_debate
    from jury_views.result_lines import collaborative_result

    loaded = load_panel(
        panel_name,
        os.environ,
        Overrides(language, max_rounds, threshold, method, judge_model, preset),  # type: ignore[arg-type]
    )
    case = loaded.redaction.case(load_example(loaded.panel.language))
    run_id = f"demo-{datetime.now(UTC):%Y%m%d-%H%M%S}-{token_hex(2)}"
    run = Run(run_id=run_id, resolved=loaded.resolved, cases=lambda _fetch: [case], concurrency=1)
    (debate_id,) = run.debate_ids(case)
    url = resolved_store(store_url)
    script = simulated(simulate, loaded.panel.models)
    on_ray = not RuntimeSettings.of(
        in_process=in_process,
        ray=ray,
        ray_address=ray_address,
        ray_open_cluster=ray_open_cluster,
        replicas=replicas,
        coordinators=coordinators,
    ).asked_in_process
    resume_hint = "the events so far are kept; jury demo starts a new debate"
    with (
        preflighted(run, url, loaded.endpoints, None if ray_address else os.environ) as (store, checked),
        closing(WritingLine()) as writing,
    ):
        sealing = sealing_of(seal_key, seal_last, seal_every, store)
        jury = make_jury(
            loaded,
            url,
            name=run_id,
            in_process=not on_ray,
            ray_address=ray_address,
            ray_open_cluster=ray_open_cluster,
            replicas=replicas,
            coordinators=coordinators,
            simulate=script,
            prices=price_list(None),
            sealing=sealing,
        )
        if all(model.startswith("simulated/") for model in loaded.panel.models):
            note("The jurors are simulated: rule-based readers. No model is called.")
        note(f"debate {debate_id}: {len(loaded.panel.seats)} jurors, {loaded.panel.name}")
        session = RunSession(run, checked, store, NoListener())

        async def judge(stopping: asyncio.Event) -> None:
            async with (
                jury,
                events_shown(jury, debate_id, note),
                aclosing(session.execute(jury, stopping, writing.take)) as lines,
            ):
                async for _ in lines:
                    pass

        with judging_loop(
            ray=on_ray, ray_address=ray_address, ray_open_cluster=ray_open_cluster, resume_hint=resume_hint
        ) as loop:
            _, interrupted = loop.run(until_interrupted(judge, says=finishing(resume_hint), waits_for=jury.waits_for))
        note_end(interrupted=interrupted, resume_hint=resume_hint, sealing=sealing)
        outcome = session.outcome(interrupted=interrupted, lines=0)
        if outcome.problems:
            note_line(f"the debate could not go on: {visible_line(str(outcome.problems[0].problem), 500)}")
            return Exit.STOPPED
        if interrupted and not store.heads([f"debate/{debate_id}"]):
            return Exit.INTERRUPTED
        record = read_debate(store, debate_id)
        result = collaborative_result(record.events, record.texts)
    if result["status"] == "unfinished":
        return Exit.INTERRUPTED
    if as_json:
        print(json.dumps(result, ensure_ascii=False, indent=2))
    else:
        _print(result)
    _note_commands(debate_id, None if store_url is None else url)
    return Exit.INTERRUPTED if interrupted else _code(result)


def _note_commands(debate_id: str, url: str | None) -> None:
    from jury_cli.terminal import note
    from jury_store.opening import parse_store_url, redacted_url

    option = "" if url is None else f" --store {shlex.quote(redacted_url(parse_store_url(url)))}"
    note(f"the whole debate:   jury show {debate_id}{option}")
    note(f"check the record:   jury verify {debate_id}{option}")
    note("judge your own:     jury run CASES.jsonl")


def _print(result: dict[str, Any]) -> None:
    if result["final_verdict"] is not None:
        said = " (simulated jurors)" if result["simulated"] else ""
        print(f"{result['final_verdict']}  {result['final_score']}/100{said}")


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
