"""What it costs to map the items that jurors name to messages of the source, for `jury stats` and tables.

    uv run python benchmarks/item_messages.py [--debates 300] [--rounds 9] [--json FILE]

Simulated debates of different cases of nine messages each, in a SQLite file. Timed in turn over them: the mapping, and
beside it the plain way, which decodes every opening event and puts the provenance into every case. CPU-µs a debate,
medians of the rounds, and their ratio. Both find the same messages, or the benchmark fails.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jury_debate.prompts_1.case_items import ItemMessages
from jury_events.case import Case, with_provenance
from jury_events.codec import decode
from jury_events.debate_events import DebateOpened
from jury_events.ids import debate_stream
from jury_judge import Jury
from jury_judge.store_access.case_messages import CaseMessages
from jury_store.event_store import EventStore
from jury_store.opening import open_store

PAGE = 200
RUN = "mapped"

Named = dict[str, list[int | None]]


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--debates", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="messages-") as folder:
        url = f"sqlite:///{folder}/messages.db"
        asyncio.run(_judged(url, asked.debates))
        store = open_store(url, write=False)
        debates = [f"{RUN}~c{number}" for number in range(asked.debates)]
        spent: dict[Callable[[EventStore, list[str]], Named], list[float]] = {_plain: [], _mapped: []}
        for way in [*spent] * (asked.rounds + 1):
            start = time.process_time()
            found = way(store, debates)
            spent[way].append(1e6 * (time.process_time() - start) / asked.debates)
            if len(found) != asked.debates or (way is _mapped and found != _plain(store, debates)):
                raise SystemExit("the two ways find different messages")
        store.close()
    plain, mapped = (statistics.median(rounds[1:]) for rounds in spent.values())
    figures = {"debates": asked.debates, "plain": plain, "mapped": mapped, "ratio": mapped / plain}
    print(f"plain {plain:.0f} CPU-µs a debate, mapped {mapped:.0f}, ratio {mapped / plain:.2f}")
    if asked.json is not None:
        asked.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def _mapped(store: EventStore, debates: list[str]) -> Named:
    cases = CaseMessages(store)
    pages = (debates[start : start + PAGE] for start in range(0, len(debates), PAGE))
    found = {debate: messages for page in pages for debate, messages in cases.of(cases.opened(page)).items()}
    return {debate: _named(messages) for debate, messages in found.items()}


def _plain(store: EventStore, debates: list[str]) -> Named:
    found = {}
    for start in range(0, len(debates), PAGE):
        page = debates[start : start + PAGE]
        events = store.first_events([debate_stream(one) for one in page])
        opened = [event for event in map(decode, events.values()) if isinstance(event, DebateOpened)]
        refs = {
            one.debate_id: [one.case.digest, *([one.provenance.digest] if one.provenance else [])] for one in opened
        }
        parts = store.named_parts(refs)
        for one in opened:
            case, *provenance = (parts[one.debate_id][digest].content for digest in refs[one.debate_id])
            judged = Case.from_part(case)
            for content in provenance:
                judged = with_provenance(judged, content)
            found[one.debate_id] = _named(ItemMessages(judged))
    return found


def _named(messages: ItemMessages) -> list[int | None]:
    return [messages.named(item) for item in range(1, messages.items + 1)]


async def _judged(url: str, debates: int) -> None:
    async with Jury(store=url) as jury:
        async for _ in jury.evaluate_many([_case(number) for number in range(debates)], run_id=RUN):
            pass


def _case(number: int) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You are an agent of a shop. Refunds are possible within 30 days."},
        {"role": "user", "content": f"Please refund order {number}."},
    ]
    for step in range(3):
        call = {"name": "look", "arguments": json.dumps({"order": number, "step": step})}
        asks = {
            "role": "assistant",
            "content": f"I look at order {number}.",
            "tool_calls": [{"id": f"c{step}", "type": "function", "function": call}],
        }
        messages += [asks, {"role": "tool", "tool_call_id": f"c{step}", "content": f"order {number}: {'x' * 200}"}]
    return {
        "case_id": f"c{number}",
        "messages": [*messages, {"role": "assistant", "content": f"Order {number} is refunded."}],
    }


if __name__ == "__main__":
    main()
