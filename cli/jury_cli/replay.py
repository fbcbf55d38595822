"""`jury replay`: show that verdicts follow from what the models said."""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from jury_cli.exits import Exit
from jury_cli.options import processes_option, resolved_store, selected, selection_options, store_option

if TYPE_CHECKING:
    from jury_events.conditions import Condition
    from jury_replay.difference import ReplayDifference
    from jury_replay.replay import Replayed

_SHOWN = 3
"""How many differences of a debate are shown; --jsonl has all."""


@click.command("replay")
@selection_options
@store_option
@processes_option
@click.option("--json", "as_json", is_flag=True, help="Print counts, and what is not equal, as one JSON object.")
@click.option("--jsonl", "as_jsonl", is_flag=True, help="Print one JSON object a debate.")
def command(
    debate_ids: tuple[str, ...],
    *,
    run_id: str | None,
    everything: bool,
    where: "tuple[Condition, ...]",
    store_url: str | None,
    processes: int | None,
    as_json: bool,
    as_jsonl: bool,
) -> int:
    """Replay recorded debates from their raw answers, under the rules and prompts that they name.

    No model is asked and no connection is made. Events, texts, prompts and tool answers are compared with the record;
    the first difference is shown. Exits with 5 where a debate does not come out equal.
    """
    from jury_cli.terminal import Counting
    from jury_judge.stores.debates import must_exist
    from jury_replay.offline import no_network
    from jury_replay.replay import replay
    from jury_replay.selection import processes_for
    from jury_store.opening import open_store

    if as_json and as_jsonl:
        raise click.UsageError("--json and --jsonl exclude each other")
    url = resolved_store(store_url)
    selection = selected(debate_ids, run_id, everything=everything, where=where)
    store = open_store(url, write=False)
    counting = Counting("debates replayed")
    counts: Counter[str] = Counter()
    others: list[dict[str, Any]] = []
    try:
        must_exist(store, selection)
        at_once = processes_for(store, selection, processes)
        with no_network():
            for one in replay(store, selection, url=url, processes=at_once):
                counts[one.status] += 1
                counting.count()
                if as_jsonl:
                    print(json.dumps(_object(one), ensure_ascii=False))
                elif as_json and one.status != "equal":
                    others.append(_object(one))
                elif not as_json:
                    print("".join(f"{line}\n" for line in _lines(one)), end="")
    finally:
        counting.close()
        store.close()
    ok = not counts["different"] and not counts["unreadable"]
    if as_json:
        found = {"ok": ok, "debates": counts.total(), **_table(counts), "not_equal": others}
        print(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        print(_tally(counts), file=sys.stderr if as_jsonl else sys.stdout)
    return Exit.DONE if ok else Exit.INTEGRITY


def _table(counts: Counter[str]) -> dict[str, int]:
    return {name: counts[name] for name in ("equal", "different", "erased", "unreadable")}


def _tally(counts: Counter[str]) -> str:
    from jury_events.text.pluralize import pluralize

    said = ", ".join(f"{number:,} {name}" for name, number in _table(counts).items() if number)
    return f"{pluralize(counts.total(), 'debate')}: {said}" if counts else "no debates"


def _lines(one: "Replayed") -> Iterator[str]:
    from jury_events.text.visible_text import visible_line

    if one.status == "different":
        yield f"{one.debate_id}: different"
        for difference in one.differences[:_SHOWN]:
            yield from (f"  {line}" for line in difference.shown_lines())
        if len(one.differences) > _SHOWN:
            yield f"  and {len(one.differences) - _SHOWN} more (--jsonl shows all)"
    elif one.status == "erased":
        yield f"{one.debate_id}: its texts were erased, on record; what is left is checked by jury verify"
    elif one.status == "unreadable":
        yield visible_line(f"{one.debate_id}: {one.detail}", 1000)


def _object(one: "Replayed") -> dict[str, Any]:
    return {**one._asdict(), "differences": [difference_object(each) for each in one.differences]}


def difference_object(difference: "ReplayDifference") -> dict[str, Any]:
    """A difference for JSON."""
    return {**difference._asdict(), "changes": [change._asdict() for change in difference.changes]}
