"""`jury fork`: branch a debate at an event and run the branch."""

import asyncio
import json
import os
import shlex
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from jury_cli.exits import Exit
from jury_cli.options import (
    debate_ids,
    new_debate_id,
    pairs,
    panel_options,
    price_list,
    resolved_store,
    runtime_options,
    simulated,
    store_option,
)

if TYPE_CHECKING:
    from jury_judge.jury import Jury
    from jury_judge.panels.files import LoadedPanel
    from jury_judge.replays.forks import Fork
    from jury_replay.origin import ForkOrigin
    from jury_store.event_store import EventStore


@click.command("fork")
@click.argument("debate_id", metavar="DEBATE", callback=debate_ids)
@click.option(
    "--at",
    required=True,
    metavar="EVENT",
    help="The last event that is kept: its number or its id, as round-2/started; `jury show DEBATE --events` has both.",
)
@click.option(
    "--model",
    "models",
    metavar="SEAT=MODEL",
    multiple=True,
    callback=pairs,
    help="Another model for a seat, as juror-gpt=openai/gpt-5. Repeatable.",
)
@click.option("--as", "as_id", metavar="ID", callback=new_debate_id, help="The branch's id. [default: by its settings]")
@panel_options
@store_option
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as JSON.")
@runtime_options
def command(**options: Any) -> int:
    """Branch a debate at any event, under other settings, and run the branch to its end.

    Answers up to the event are reused without calling a model; the branch is a new debate, and its origin does not
    change. Without --panel the settings are those of the origin, except for those given here. The same command again
    resumes the same branch.
    """
    return _fork(**options)


def _fork(
    *,
    debate_id: str,
    at: str,
    models: dict[str, str],
    as_id: str | None,
    panel_name: str | None,
    preset: str | None,
    language: str | None,
    max_rounds: int | None,
    threshold: float | None,
    method: str | None,
    judge_model: str | None,
    store_url: str | None,
    as_json: bool,
    in_process: bool,
    ray: bool,
    ray_address: str | None,
    ray_open_cluster: bool,
    replicas: int | None,
    coordinators: int | None,
    simulate: dict[str, str],
) -> int:
    from jury_cli.judging import make_jury
    from jury_cli.terminal import note
    from jury_judge.panels.variables import Overrides
    from jury_judge.replays.forks import plan_fork, read_origin
    from jury_judge.settings.runtime import RuntimeSettings
    from jury_providers.registry import check_models
    from jury_store.opening import open_store

    asked = RuntimeSettings.of(
        in_process=in_process,
        ray=ray,
        ray_address=ray_address,
        ray_open_cluster=ray_open_cluster,
        replicas=replicas,
        coordinators=coordinators,
    ).asked_in_process
    overrides = Overrides(language, max_rounds, threshold, method, judge_model, preset)  # type: ignore[arg-type]
    url = resolved_store(store_url)
    store = open_store(url, write=False)
    try:
        origin = read_origin(store, debate_id)
        loaded = _panel(panel_name, overrides, models, origin)
        script = simulated(simulate, loaded.panel.models)
        fork = plan_fork(store, origin, at, loaded.resolved, debate_id=as_id)
        check_models(loaded.panel, loaded.endpoints, None if ray_address or fork.over else os.environ)
        jury = make_jury(
            loaded,
            url,
            name=fork.debate_id,
            in_process=asked is not False,
            ray_address=ray_address,
            ray_open_cluster=ray_open_cluster,
            replicas=replicas,
            coordinators=coordinators,
            simulate=script,
            prices=price_list(None),
        )
        if all(model.startswith("simulated/") for model in loaded.panel.models):
            note("The jurors are simulated: rule-based readers. No model is called.")
        note(_introduced(fork))
        interrupted = False
        if not fork.over:
            interrupted, problem = _resume(
                fork,
                jury,
                ray=asked is False,
                ray_address=ray_address,
                ray_open_cluster=ray_open_cluster,
            )
            if problem is not None:
                return _stopped(problem)
        code = _print(fork, store, as_json=as_json)
    finally:
        store.close()
    there = "" if store_url is None else f" --store {shlex.quote(_shown(url))}"
    note(f"the whole debate:   jury show {fork.debate_id}{there}")
    note(f"beside its origin:  jury compare {fork.origin} {fork.debate_id}{there}")
    return Exit.INTERRUPTED if interrupted else code


def _panel(panel_name: str | None, overrides: Any, models: dict[str, str], origin: "ForkOrigin") -> "LoadedPanel":
    """The named panel; else the origin's, which neither environment nor preset changes."""
    from jury_judge.panels.changed import changed_panel
    from jury_judge.panels.files import LoadedPanel, load_panel

    if panel_name is None:
        return LoadedPanel(changed_panel(origin.panel(), overrides, models))
    loaded = load_panel(panel_name, os.environ, overrides)
    return loaded._replace(resolved=changed_panel(loaded.resolved, models=models)) if models else loaded


def _introduced(fork: "Fork") -> str:
    from jury_events.text.pluralize import pluralize

    kept = f"branches off {fork.origin} after event {fork.version}"
    reused = f"{pluralize(fork.reused, 'recorded call')} reused, none of them repeated"
    state = ", judged before" if fork.over else ", resumed" if fork.stored else ""
    return f"debate {fork.debate_id} {kept}: {reused}{state}"


def _resume(
    fork: "Fork",
    jury: "Jury",
    *,
    ray: bool,
    ray_address: str | None,
    ray_open_cluster: bool,
) -> tuple[bool, BaseException | None]:
    """Store the branch if it is new, and run it; returns whether that was interrupted, and why it could not go on."""
    from jury_cli.interrupts import until_interrupted
    from jury_cli.judging import finishing, judging_loop, note_end
    from jury_cli.live import events_shown
    from jury_cli.terminal import WritingLine, note

    resume_hint = f"the same command resumes the branch {fork.debate_id}"
    with closing(WritingLine()) as writing:

        async def resume(_stopping: asyncio.Event) -> BaseException | None:
            async with jury:
                stored = await jury.store_branch(fork)
                async with events_shown(jury, fork.debate_id, note, after=stored):
                    return await jury.resume_fork(fork, writing.take)

        with judging_loop(
            ray=ray, ray_address=ray_address, ray_open_cluster=ray_open_cluster, resume_hint=resume_hint
        ) as loop:
            problem, interrupted = loop.run(
                until_interrupted(resume, says=finishing(resume_hint), waits_for=jury.waits_for)
            )
    note_end(interrupted=interrupted, resume_hint=resume_hint)
    return interrupted, problem


def _stopped(problem: BaseException) -> Exit:
    from jury_cli.terminal import note
    from jury_events.text.visible_text import visible_line

    note(f"jury: the branch could not go on: {visible_line(str(problem), 500)}")
    note("jury: mend the cause; the same command resumes it")
    return Exit.STOPPED


def _print(fork: "Fork", store: "EventStore", *, as_json: bool) -> Exit:
    from jury_cli.terminal import note
    from jury_judge.stores.debates import read_debate
    from jury_views.result_lines import collaborative_result

    reading = read_debate(store, fork.debate_id)
    result = collaborative_result(reading.events, reading.texts)
    verdict = result["final_verdict"]
    if as_json:
        print(json.dumps(result, ensure_ascii=False, indent=2))
    elif verdict is not None:
        said = " (simulated jurors)" if result["simulated"] else ""
        print(f"{verdict}  {result['final_score']}/100  {fork.debate_id}{said}")
    if verdict is None:
        note(f"jury: debate {fork.debate_id} has no verdict ({result['status']})")
        return Exit.STOPPED if result["status"] == "unfinished" else Exit.NO_VERDICT
    if not result["phase3_judgment"]["quorum_met"]:
        note(f"jury: debate {fork.debate_id} had no quorum of jurors; `jury show` says why")
        return Exit.NO_VERDICT
    return Exit.DONE


def _shown(url: str) -> str:
    from jury_store.opening import parse_store_url, redacted_url

    return redacted_url(parse_store_url(url))
