"""`jury show`: one debate, whole."""

import json
from typing import TYPE_CHECKING

import click

from jury_judge.cli.exits import Exit
from jury_judge.cli.options import debate_ids, resolved_store, store_option

if TYPE_CHECKING:
    from jury_store.event_store import EventStore


@click.command("show")
@click.argument("debate_id", metavar="DEBATE", callback=debate_ids)
@store_option
@click.option("--full", is_flag=True, help="Do not shorten the case.")
@click.option("--events", "as_events", is_flag=True, help="One line an event, with its number and id, instead.")
@click.option("--json", "as_json", is_flag=True, help="Print the result model, or the events, as JSON.")
def command(debate_id: str, store_url: str | None, *, full: bool, as_events: bool, as_json: bool) -> int:
    """Show one debate: the case, every evaluation and statement, the checks, the votes and the judgment."""
    from jury_judge.cli.terminal import page_console
    from jury_judge.debates import read_debate
    from jury_judge.views.debate_view import render_debate
    from jury_judge.views.result import collaborative_result
    from jury_store.opening import open_store

    if as_events and full:
        raise click.UsageError("--events shows no case; --full goes without it")
    store = open_store(resolved_store(store_url), write=False)
    try:
        if as_events:
            return _show_events(store, debate_id, as_json=as_json)
        reading = read_debate(store, debate_id)
    finally:
        store.close()
    if as_json:
        print(json.dumps(collaborative_result(reading.events, reading.texts), ensure_ascii=False, indent=2))
    else:
        render_debate(reading.events, reading.exchanges, reading.texts, page_console(), full=full)
    return Exit.DONE


def _show_events(store: "EventStore", debate_id: str, *, as_json: bool) -> Exit:
    from jury_events.ids import calls_stream, debate_stream
    from jury_judge.cli.terminal import page_console
    from jury_judge.debates import not_found
    from jury_judge.views.events_view import event_lines, events_page

    streams = store.read_streams([debate_stream(debate_id), calls_stream(debate_id)])
    if debate_stream(debate_id) not in streams:
        raise not_found(debate_id)
    lines = event_lines(event for stream in streams.values() for event in stream)
    if as_json:
        print(json.dumps([line._asdict() for line in lines], ensure_ascii=False, indent=2))
    else:
        events_page(lines).print(page_console())
    return Exit.DONE
