"""`jury show`: one debate, whole."""

import json

import click

from jury_judge.cli.exits import Exit
from jury_judge.cli.options import debate_ids, resolved_store, store_option


@click.command("show")
@click.argument("debate_id", metavar="DEBATE", callback=debate_ids)
@store_option
@click.option("--full", is_flag=True, help="Do not shorten the case.")
@click.option("--json", "as_json", is_flag=True, help="Print the result model as JSON.")
def command(debate_id: str, store_url: str | None, *, full: bool, as_json: bool) -> int:
    """Show one debate: the case, every evaluation and statement, the checks, the votes and the judgment."""
    from jury_judge.cli.terminal import page_console
    from jury_judge.debates import read_debate
    from jury_judge.views.debate_view import render_debate
    from jury_judge.views.result import collaborative_result
    from jury_store.opening import open_store

    store = open_store(resolved_store(store_url), write=False)
    try:
        reading = read_debate(store, debate_id)
    finally:
        store.close()
    if as_json:
        print(json.dumps(collaborative_result(reading.events, reading.texts), ensure_ascii=False, indent=2))
    else:
        render_debate(reading.events, reading.exchanges, reading.texts, page_console(), full=full)
    return Exit.DONE
