"""`jury fork`: branch a debate at an event and hold it from there."""

import asyncio
import json
import os
import shlex
from typing import TYPE_CHECKING, Any

import click

from jury_judge.cli.exits import Exit
from jury_judge.cli.options import (
    court_options,
    debate_ids,
    new_debate_id,
    pairs,
    panel_options,
    price_list,
    resolved_store,
    simulated,
    store_option,
)

if TYPE_CHECKING:
    from jury_actors.court import CourtPlan
    from jury_actors.messages import Finished
    from jury_judge.cli.holding import Court
    from jury_judge.forks import Fork
    from jury_judge.panels.files import LoadedPanel
    from jury_replay.origin import Origin
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
@court_options
def command(**options: Any) -> int:
    """Branch a debate at any event, under other settings, and hold it from there.

    What was answered up to the event is reused and asked of nobody again; the branch is a debate of its own, and its
    origin stays as it is. Without --panel the settings are those of the origin, and only what is named here changes.
    The same command again goes on with the same branch.
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
    replicas: int,
    simulate: dict[str, str],
) -> int:
    from jury_actors.court import CourtPlan
    from jury_actors.providers.registry import check_models
    from jury_judge.cli.holding import warn_of_models
    from jury_judge.cli.place import asked_in_process
    from jury_judge.cli.terminal import note
    from jury_judge.forks import plan_fork, read_origin
    from jury_judge.panels.variables import Overrides
    from jury_store.opening import open_store

    asked = asked_in_process(in_process=in_process, ray=ray, ray_address=ray_address, replicas=replicas)
    overrides = Overrides(language, max_rounds, threshold, method, judge_model, preset)  # type: ignore[arg-type]
    url = resolved_store(store_url)
    store = open_store(url, write=False)
    try:
        origin = read_origin(store, debate_id)
        loaded = _panel(panel_name, overrides, models, origin)
        script = simulated(simulate, loaded.panel.models)
        fork = plan_fork(store, origin, at, loaded.resolved, debate_id=as_id)
        check_models(loaded.panel, loaded.endpoints, None if ray_address or fork.over else os.environ)
        warn_of_models(loaded, on_cluster=ray_address is not None)
        if all(model.startswith("simulated/") for model in loaded.panel.models):
            note("The jurors are simulated: rule-based readers. No model is called.")
        note(_introduced(fork))
        plan = CourtPlan(loaded.panel, url, fork.debate_id, script, replicas, loaded.endpoints, prices=price_list(None))
        interrupted = False
        if not fork.over:
            interrupted, finished = _hold(
                fork,
                plan,
                store,
                in_process=asked is not False,
                ray_address=ray_address,
                ray_open_cluster=ray_open_cluster,
            )
            if finished is not None and finished.problem is not None:
                return _stopped(finished)
        code = _tell(fork, store, as_json=as_json)
    finally:
        store.close()
    there = "" if store_url is None else f" --store {shlex.quote(_shown(url))}"
    note(f"the whole debate:   jury show {fork.debate_id}{there}")
    note(f"beside its origin:  jury compare {fork.origin} {fork.debate_id}{there}")
    return Exit.INTERRUPTED if interrupted else code


def _panel(panel_name: str | None, overrides: Any, models: dict[str, str], origin: "Origin") -> "LoadedPanel":
    """A panel that is named is loaded as anywhere; else the origin's, which neither environment nor preset changes."""
    from jury_judge.panels.changed import changed_panel
    from jury_judge.panels.files import LoadedPanel, load_panel

    if panel_name is None:
        return LoadedPanel(changed_panel(origin.panel(), overrides, models))
    loaded = load_panel(panel_name, os.environ, overrides)
    return loaded._replace(resolved=changed_panel(loaded.resolved, models=models)) if models else loaded


def _introduced(fork: "Fork") -> str:
    from jury_judge.views.counted import counted

    kept = f"branches off {fork.origin} after event {fork.version}"
    reused = f"{counted(fork.reused, 'recorded call')} reused, none of them made again"
    state = ", held before" if fork.over else ", gone on with" if fork.stored else ""
    return f"debate {fork.debate_id} {kept}: {reused}{state}"


def _hold(
    fork: "Fork",
    plan: "CourtPlan",
    store: "EventStore",
    *,
    in_process: bool,
    ray_address: str | None,
    ray_open_cluster: bool,
) -> "tuple[bool, Finished | None]":
    """Store the branch where it is new, and see it through; gives whether that was interrupted, and how it ended."""
    from jury_actors.holding import hold
    from jury_actors.messages import Docket, Job
    from jury_judge.cli.holding import in_court, open_for_writing
    from jury_judge.cli.live import told_live
    from jury_judge.cli.terminal import WritingLine, note
    from jury_judge.forks import store_branch

    kept = fork.stored
    if fork.branch is not None:
        writer = open_for_writing(plan)
        try:
            kept = store_branch(writer, fork.branch)
        finally:
            writer.close()
    ended: list[Finished] = []
    writing = WritingLine()

    async def work(court: "Court", _stopping: asyncio.Event) -> None:
        # Nothing is opened any more, so that the job carries no case.
        job = Job(fork.debate_id, b"", Docket(fork.debate_id, fork.resolved, watched=True))
        async with told_live(store, fork.debate_id, note, kept), court() as port:
            ended.extend([one async for one in hold(port, iter([job]), concurrency=1, heard=writing.take)])

    again = f"the same command goes on with the branch {fork.debate_id}"
    try:
        interrupted = in_court(
            plan,
            work,
            in_process=in_process,
            ray_address=ray_address,
            ray_open_cluster=ray_open_cluster,
            again=again,
        )
    finally:
        writing.close()
    return interrupted, ended[0] if ended else None


def _stopped(finished: "Finished") -> Exit:
    from jury_judge.cli.terminal import note
    from jury_judge.views.visible_text import visible_line

    note(f"jury: the branch could not go on: {visible_line(str(finished.problem), 500)}")
    note("jury: mend the cause; the same command goes on with it")
    return Exit.STOPPED


def _tell(fork: "Fork", store: "EventStore", *, as_json: bool) -> Exit:
    from jury_judge.cli.terminal import note
    from jury_judge.debates import read_debate
    from jury_judge.views.result import collaborative_result

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
