"""Hostile texts judged by simulated readers under each marking: does any of them vote, or stop a debate?

    uv run python benchmarks/hostile.py FILE [FILE …] [--first 20] [--json FILE]

Each row of a file (JSON lines) is a case: its `hostile_answer` or `attack` is judged as the answer to its `question` or
`pre_prompt`. Three simulated readers and a judge, one round of discussion, so that what they say of a text reaches the
others too: with lines marked, and with words. It prints, by file and marking: seats that abstained, answers that had to
be asked for again, answers with another ballot id than their seat's, and what is judged otherwise than with lines
marked. Readers are rules, no models: it tests the prompts and what reads answers, not persuasion. The
exit code is 1 if any answer has another ballot id than its seat's.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from jury_actors.messages import Job, RunContext
from jury_actors.runtime import RuntimeConfig, drive, in_process_runtime
from jury_debate.panel_spec import PanelSpec
from jury_debate.resolved_panel import ResolvedPanel, resolve
from jury_debate.rules_1.opening import ballot_id
from jury_events.case import Case, ExecutionResult, QuestionSpec, Scenario
from jury_events.codec import decode
from jury_events.debate_events import DebateCompleted, DebateOpened, JurorAbstained, JurorEvaluated
from jury_events.exchange import ExchangeRecorded
from jury_events.ids import calls_stream, debate_stream
from jury_store.memory import MemoryEventStore

MARKINGS = ("lines", "words")
"""What the other is compared with comes first."""

NO_QUESTION = "Answer the user."
"""Of a row without a question: a case has one."""


class Debated(NamedTuple):
    """What one debate shows."""

    abstained: int
    asked_again: int
    foreign: int
    """Answers with another ballot id than their seat's."""
    seats: dict[str, str]
    """The first verdict of each seat that gave one."""
    verdict: str | None
    """Of the jury; None: it came to none."""


class _Kept(MemoryEventStore):
    def close(self) -> None:
        """The events are read afterwards."""


def main() -> None:
    """Print a row for each file and marking."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--first", type=int, help="rows of each file; all by default")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    found: list[dict[str, Any]] = []
    columns = ("debates", "abstained", "again", "foreign", "seats differ", "verdicts differ")
    print(f"{'file':<28} {'marking':<8} {' '.join(f'{name:>{len(name)}}' for name in columns)}")
    for path in arguments.files:
        cases = list(_cases(path))[: arguments.first]
        debated = {marking: asyncio.run(_debates(cases, _panel(marking))) for marking in MARKINGS}
        compared = debated[MARKINGS[0]]
        for marking, debates in debated.items():
            figures = dict(zip(columns, _figures(debates, compared), strict=True))
            found.append({"file": path.name, "marking": marking, **figures})
            shown = " ".join(f"{count:>{len(name)},}" for name, count in figures.items())
            print(f"{path.stem[:28]:<28} {marking:<8} {shown}")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    if any(one["foreign"] for one in found):
        sys.exit(1)


def _cases(path: Path) -> Iterator[Case]:
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, row in enumerate(json.loads(line) for line in lines if line.strip()):
        text = row.get("hostile_answer") or row.get("attack")
        if not text:
            raise SystemExit(f"{path.name}: row {number + 1} has neither hostile_answer nor attack")
        question = QuestionSpec(prompt=row.get("question") or row.get("pre_prompt") or NO_QUESTION)
        scenario = Scenario(scenario_id="s1", question=question, execution=ExecutionResult(response=text))
        yield Case(case_id=f"hostile-{number}", scenarios=(scenario,))


def _panel(marking: str) -> ResolvedPanel:
    spec = {
        "preset": "parallel-rounds",
        "discussion": {"max_rounds": 1, "always_discuss": True},
        "artifacts": {"mode": "inline"},
        "marking": marking,
    }
    return resolve(PanelSpec.model_validate(spec))


async def _debates(cases: list[Case], resolved: ResolvedPanel) -> list[Debated]:
    """The debates, in the order of the cases."""
    store = _Kept()
    config = RuntimeConfig((resolved.panel,), "", "run", replicas=1)
    context = RunContext("run", resolved)
    jobs = (Job(f"d{number}", case.model_dump_json().encode(), context) for number, case in enumerate(cases))
    async with in_process_runtime(config, lambda: store) as runtime:
        async for finished in drive(runtime, jobs, concurrency=8):
            if finished.problem is not None:
                raise finished.problem
    return [_debated(store, f"d{number}") for number in range(len(cases))]


def _debated(store: MemoryEventStore, debate_id: str) -> Debated:
    events = [decode(stored) for stored in store.read_stream(debate_stream(debate_id))]
    calls = [decode(stored) for stored in store.read_stream(calls_stream(debate_id))]
    exchanges = [one for one in calls if isinstance(one, ExchangeRecorded)]
    opened = next(event for event in events if isinstance(event, DebateOpened))
    parts = {digest: part.content for digest, part in store.parts(debate_id).items()}
    secret = parts[opened.secret.digest]
    ballots = [
        (_ballot(parts[one.answer.digest]), ballot_id(secret, one.juror_id))
        for one in exchanges
        if one.answer is not None
    ]
    return Debated(
        abstained=sum(isinstance(event, JurorAbstained) for event in events),
        # No tools are offered: a step has a second turn only if its answer could not be used.
        asked_again=sum(one.turn > 1 for one in exchanges),
        foreign=sum(given is not None and given != own for given, own in ballots),
        seats={event.juror_id: event.evaluation.verdict.value for event in events if isinstance(event, JurorEvaluated)},
        verdict=next((event.final_verdict.value for event in events if isinstance(event, DebateCompleted)), None),
    )


def _ballot(answer: bytes) -> Any:
    """The answer's ballot id; None if it is no object: it is asked for again, and counts there."""
    try:
        given = json.loads(answer)
    except ValueError:
        return None
    return given.get("ballot") if isinstance(given, dict) else None


def _figures(debates: list[Debated], compared: list[Debated]) -> tuple[int, ...]:
    pairs = list(zip(debates, compared, strict=True))
    return (
        len(debates),
        sum(one.abstained for one in debates),
        sum(one.asked_again for one in debates),
        sum(one.foreign for one in debates),
        sum(one.seats.get(seat) != other.seats.get(seat) for one, other in pairs for seat in one.seats | other.seats),
        sum(one.verdict != other.verdict for one, other in pairs),
    )


if __name__ == "__main__":
    main()
