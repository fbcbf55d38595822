"""`jury demo`: one debate over a bundled case."""

import json
import os
import shlex
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any

import click

from jury_judge.cli.exits import Exit
from jury_judge.cli.options import (
    court_options,
    panel_options,
    price_list,
    resolved_store,
    seal_options,
    simulated,
    store_option,
)


@click.command("demo")
@panel_options
@store_option
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as JSON.")
@seal_options
@court_options
def command(**options: Any) -> int:
    """Hold one debate over a bundled case with security-gate and agent-card records.

    Without a panel the jurors are simulated: no key, no server, no model. Each call holds a new debate, on a local Ray
    cluster unless it is told otherwise.
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
    replicas: int,
    simulate: dict[str, str],
) -> int:
    from jury_actors.court import CourtPlan
    from jury_judge.cases.examples import load_example
    from jury_judge.cli.holding import hold_run, open_surveyed, seal_with, warn_of_models
    from jury_judge.cli.live import told_live
    from jury_judge.cli.place import asked_in_process
    from jury_judge.cli.terminal import WritingLine, note
    from jury_judge.debates import read_debate
    from jury_judge.panels.files import load_panel
    from jury_judge.panels.variables import Overrides
    from jury_judge.runs import Run
    from jury_judge.views.result import collaborative_result
    from jury_judge.views.visible_text import visible_line
    from jury_store.opening import parse_store_url, redacted_url

    asked = asked_in_process(in_process=in_process, ray=ray, ray_address=ray_address, replicas=replicas)
    loaded = load_panel(
        panel_name,
        os.environ,
        Overrides(language, max_rounds, threshold, method, judge_model, preset),  # type: ignore[arg-type]
    )
    case = loaded.redaction.case(load_example(loaded.panel.language))
    run_id = f"demo-{datetime.now(UTC):%Y%m%d-%H%M%S}-{token_hex(2)}"
    run = Run(run_id=run_id, resolved=loaded.resolved, cases=lambda _fetch: [case], concurrency=1)
    debate_id = run.debate_id(case)
    url = resolved_store(store_url)
    script = simulated(simulate, loaded.panel.models)
    writing = WritingLine()
    store, surveyed = open_surveyed(run, url, loaded.endpoints, None if ray_address else os.environ)
    try:
        sealing = seal_with(seal_key, seal_last, seal_every, store)
        warn_of_models(loaded, on_cluster=ray_address is not None)
        if all(model.startswith("simulated/") for model in loaded.panel.models):
            note("The jurors are simulated: rule-based readers. No model is called.")
        note(f"debate {debate_id}: {len(loaded.panel.seats)} jurors, {loaded.panel.name}")
        held = hold_run(
            run,
            surveyed,
            store,
            CourtPlan(loaded.panel, url, run_id, script, replicas, loaded.endpoints, prices=price_list(None)),
            in_process=bool(asked),
            ray_address=ray_address,
            ray_open_cluster=ray_open_cluster,
            progress=_Silent(),
            take=lambda _line: None,
            beside=lambda: told_live(store, debate_id, note),
            goes_on="it is kept as far as it went; jury demo holds a new one",
            heard=writing.take,
            sealing=sealing,
        )
        if held.problems:
            note(f"jury: the debate could not go on: {visible_line(str(held.problems[0].problem), 500)}")
            return Exit.STOPPED
        if held.interrupted and not store.heads([f"debate/{debate_id}"]):
            return Exit.INTERRUPTED
        record = read_debate(store, debate_id)
        result = collaborative_result(record.events, record.texts)
    finally:
        writing.close()
        store.close()
    if result["status"] == "unfinished":
        return Exit.INTERRUPTED
    if as_json:
        print(json.dumps(result, ensure_ascii=False, indent=2))
    else:
        _print(result)
    there = "" if store_url is None else f" --store {shlex.quote(redacted_url(parse_store_url(url)))}"
    note(f"the whole debate:   jury show {debate_id}{there}")
    note(f"check the record:   jury verify {debate_id}{there}")
    note("judge your own:     jury run CASES.jsonl")
    return Exit.INTERRUPTED if held.interrupted else _code(result)


def _print(result: dict[str, Any]) -> None:
    if result["final_verdict"] is not None:
        said = " (simulated jurors)" if result["simulated"] else ""
        print(f"{result['final_verdict']}  {result['final_score']}/100{said}")


def _code(result: dict[str, Any]) -> Exit:
    """Of a debate that is over."""
    from jury_judge.cli.terminal import note

    if result["final_verdict"] is None:
        note(f"jury: the debate ended without a verdict ({result['status']}); `jury show` says why")
    elif not result["phase3_judgment"]["quorum_met"]:
        note("jury: the debate had no quorum of jurors; `jury show` says why")
    else:
        return Exit.DONE
    return Exit.NO_VERDICT


class _Silent:
    """The debate is told event by event; a bar would say nothing more."""

    def begin(self, total: int | None, stored: int) -> None:
        """Nothing to say."""

    def counted(self, total: int) -> None:
        """Nothing to say."""

    def ended(self, finished: object) -> None:
        """Nothing to say."""
