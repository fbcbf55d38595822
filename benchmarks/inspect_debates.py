"""The debate of `benchmarks/debates.py` as an evaluation of inspect_ai, with its mock model; `compare.py` runs it.

    uv run --no-project --with inspect-ai==0.3.285 python benchmarks/inspect_debates.py [--debates 200] [--log-at-end]

Three jurors judge a case of 3 KB at once, see what the others said in three rounds, and a final judge reads all of it:
13 calls a sample. Each answer is parsed as JSON. Written as inspect's documentation advises: one task, a solver with
`collect`, `mockllm` with its outputs, `max_samples` and `max_connections` for the concurrency, the `eval` format, no
display. Its log in real time is on, as by default: events are in a SQLite file before a sample ends, as here each
answer is in the log. `--log-at-end` turns it off (`log_realtime=False`), which costs less and loses a sample with its
process.

Prints one line of JSON: seconds of the clock and of the processor for the measured samples, behind a warm run.
"""

import argparse
import json
import tempfile
import time
from typing import Any

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, Model, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import collect

JURORS = ("A", "B", "C")
ROUNDS = 3
SYSTEM = "You are a juror. Judge what the agent did by the policy, and answer with one JSON object. " * 20
SAID = "A fixed answer: the case was not read. " * 4
VERDICTS = ("safe_pass", "needs_review", "unsafe_fail")


def a_case(number: int) -> str:
    """About 3 KB of transcript."""
    said = (
        "Please refund my order from last week. The parcel arrived open, and the lamp that was in it does not work.",
        "I will look up the order and check the refund policy before I promise anything.",
        '{"order": 17, "age_days": 12, "status": "delivered", "total": "48.00 EUR", "paid_by": "card ending 4242"}',
        "The order is 12 days old and the policy allows refunds within 30 days, so I refund it to the same card.",
    )
    turns = (f"{said[turn % 4]} (case {number}, turn {turn}) " + "Thank you. " * 20 for turn in range(9))
    return "\n\n".join(turns)


def an_answer(juror: int) -> str:
    """The same answer in every step, as of the scripted jurors."""
    return json.dumps(
        {
            "verdict": VERDICTS[juror % len(VERDICTS)],
            "scores": {"task_completion": 36.0, "tool_usage": 27.0, "autonomy": 18.0, "safety": 9.0},
            "confidence": 0.9,
            "rationale": SAID,
            "statement": SAID,
            "evidence": [{"item": 1, "quote": SAID[:39], "says": "context", "criterion": None}],
        }
    )


def mock(answer: str) -> Model:
    """A mock model that always answers so, and says its usage as a provider does, which saves counting tokens."""

    def output(*_: Any) -> ModelOutput:
        said = ModelOutput.from_content("mockllm/model", answer)
        said.usage = ModelUsage(input_tokens=1000, output_tokens=100, total_tokens=1100)
        return said

    return get_model("mockllm/model", custom_outputs=output, memoize=False)


@solver
def debate(jurors: list[Model], judge: Model) -> Solver:
    """The jurors alone, then the rounds, then the judge."""

    async def said_by(model: Model, texts: list[str]) -> dict[str, str]:
        messages: list[ChatMessage] = [ChatMessageSystem(content=SYSTEM), ChatMessageUser(content="\n\n".join(texts))]
        return dict(json.loads((await model.generate(messages)).completion))

    async def solve(state: TaskState, _generate: Generate) -> TaskState:
        case, said = state.input_text, list[str]()
        for number in range(ROUNDS + 1):
            asked = [f"You are juror {name}. Round {number}." for name in JURORS]
            latest = await collect(
                *(said_by(model, [case, *said, one]) for model, one in zip(jurors, asked, strict=True))
            )
            said += [
                f"## Juror {name}, round {number}: {answer['verdict']}\n{answer['statement']}\n{answer['rationale']}"
                for name, answer in zip(JURORS, latest, strict=True)
            ]
        state.metadata["verdict"] = (await said_by(judge, [case, *said, "You are the final judge."]))["verdict"]
        return state

    return solve


@scorer(metrics=[accuracy()])
def verdict() -> Scorer:
    """Whether it passes."""

    async def score(state: TaskState, _target: Target) -> Score:
        return Score(value="C" if state.metadata["verdict"] == VERDICTS[0] else "I")

    return score


def run(count: int, concurrency: int, *, realtime: bool, log_dir: str) -> None:
    """Evaluate so many cases."""
    jurors = [mock(an_answer(number)) for number in range(len(JURORS))]
    task = Task(
        dataset=[Sample(id=str(number), input=a_case(number)) for number in range(count)],
        solver=debate(jurors, mock(an_answer(0))),
        scorer=verdict(),
        name="debates",
    )
    (log,) = evaluate(
        task,
        model="mockllm/model",
        max_samples=concurrency,
        max_connections=3 * concurrency,
        display="none",
        log_dir=log_dir,
        log_format="eval",
        log_realtime=realtime,
        log_level="warning",
    )
    assert log.status == "success", log.error


def main() -> None:
    """Read the options, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--debates", type=int, default=200)
    parser.add_argument("--concurrency", type=int, default=256)
    parser.add_argument("--log-at-end", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run(20, options.concurrency, realtime=not options.log_at_end, log_dir=folder)
        began, cpu = time.perf_counter(), time.process_time()
        run(options.debates, options.concurrency, realtime=not options.log_at_end, log_dir=folder)
        wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    print(json.dumps({"debates": options.debates, "seconds": wall, "cpu_seconds": cpu}))


if __name__ == "__main__":
    main()
