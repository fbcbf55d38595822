"""`jury show`: one debate, whole."""

import json
from typing import TYPE_CHECKING

import click

from jury_cli.exits import Exit
from jury_cli.options import debate_ids, resolved_store, store_option

if TYPE_CHECKING:
    from jury_events.debate_history import DebateHistory
    from jury_store.event_store import EventStore


@click.command("show")
@click.argument("debate_id", metavar="DEBATE", callback=debate_ids)
@store_option
@click.option("--full", is_flag=True, help="Do not shorten the case.")
@click.option("--events", "as_events", is_flag=True, help="One line an event, with its number and id, instead.")
@click.option("--prompts", "as_prompts", is_flag=True, help="What models were sent, call by call, instead.")
@click.option("--step", metavar="STEP", help="With --prompts: of this step only, as in initial/gpt or final.")
@click.option("--marked", is_flag=True, help="With --prompts: texts exactly as sent, with their marks.")
@click.option("--json", "as_json", is_flag=True, help="Print the result model, the events or the prompts as JSON.")
def command(
    debate_id: str,
    store_url: str | None,
    *,
    full: bool,
    as_events: bool,
    as_prompts: bool,
    step: str | None,
    marked: bool,
    as_json: bool,
) -> int:
    """Show one debate: the case, every evaluation and statement, the checks, the votes and the judgment."""
    from jury_cli.terminal import page_console
    from jury_judge.stores.debates import read_debate
    from jury_store.opening import open_store
    from jury_views.result_lines import result_of
    from jury_views.terminal.debate import render_debate

    if as_events and full:
        raise click.UsageError("--events shows no case; --full goes without it")
    if as_prompts and (as_events or full):
        raise click.UsageError("--prompts shows what was sent; --events and --full go without it")
    if (step is not None or marked) and not as_prompts:
        raise click.UsageError("--step and --marked go with --prompts")
    store = open_store(resolved_store(store_url), write=False)
    try:
        if as_events:
            return _show_events(store, debate_id, as_json=as_json)
        reading = read_debate(store, debate_id)
    finally:
        store.close()
    if as_prompts:
        return _show_prompts(reading, step, marked=marked, as_json=as_json)
    if as_json:
        print(json.dumps(result_of(reading), ensure_ascii=False, indent=2))
    else:
        render_debate(reading.events, reading.exchanges, reading.texts, page_console(), full=full, local=reading.local)
        _show_reviews(reading)
    return Exit.DONE


def _show_reviews(reading: "DebateHistory") -> None:
    from jury_cli.terminal import page_console
    from jury_cli.views.reviews import reviews_section
    from jury_views.page import Page
    from jury_views.review_objects import reasons_in

    if reading.stored_reviews:
        page = Page()
        page.blank()
        reviews_section(page, reading.reviews, reasons_in(reading))
        page.print(page_console())


def _show_prompts(reading: "DebateHistory", step: str | None, *, marked: bool, as_json: bool) -> Exit:
    from jury_cli.terminal import page_console
    from jury_views.terminal.prompts import prompts_data, prompts_page

    calls = [call for call in reading.exchanges if step in {None, call.step}]
    if not calls:
        steps = ", ".join(dict.fromkeys(call.step for call in reading.exchanges)) or "none"
        raise click.UsageError(
            f"no model was asked in {step!r}; the steps are {steps}" if step else "no model was asked"
        )
    if as_json:
        print(json.dumps(prompts_data(calls, reading.texts, marked=marked), ensure_ascii=False, indent=2))
    else:
        prompts_page(calls, reading.texts, marked=marked).print(page_console())
    return Exit.DONE


def _show_events(store: "EventStore", debate_id: str, *, as_json: bool) -> Exit:
    from jury_cli.terminal import page_console
    from jury_views.events_view import event_lines, events_page

    history = store.history(debate_id)
    lines = event_lines((*history.stored_events, *history.stored_exchanges, *history.stored_reviews))
    if as_json:
        print(json.dumps([line._asdict() for line in lines], ensure_ascii=False, indent=2))
    else:
        events_page(lines).print(page_console())
    return Exit.DONE
