"""Judges one case, then several at once, with `Jury`, and prints the verdicts.

    uv run python examples/judge_from_python.py                                   # simulated jurors: no key, no model
    uv run python examples/judge_from_python.py --panel current --store sqlite:///mine.db

Exit codes: 0; 2 an argument or a case cannot be used; 4 the judging stopped, and the same call goes on with it.
"""

import argparse
import asyncio
import sys
from pathlib import Path

from jury_judge import DebateResult, Halted, InputError, Jury, JuryError

CASES = Path(__file__).parent / "cases.jsonl"
RUN = "python-example"


def described(result: DebateResult) -> str:
    """The verdict, who voted how, and why a seat has no vote of its own."""
    judgment = result.phase3_judgment
    if judgment is None:
        return f"{result.case_id}: no judgment, the debate is {result.status}"
    votes = ", ".join(f"{vote.juror_id}: {vote.position}" for vote in judgment.votes)
    absent = "".join(f"; {one.juror_id} abstained ({one.reason})" for one in result.abstentions)
    return f"{result.case_id}: {result.final_verdict}, score {result.final_score} ({votes}{absent})"


async def judge(panel: str | None, store: str) -> None:
    """One case by itself, then every case of a file as a run, which the same call resumes."""
    async with Jury(panel, store=store) as jury:
        one = await jury.evaluate({"question": "Refund order 17.", "response": "Refunded to the card ending 4242."})
        if one.simulated:
            print("simulated jurors: no model was called, and the verdicts say nothing of the cases")
        print(described(one))
        for number, evaluation in enumerate(one.phase1_evaluations, 1):
            print(f"  juror {number}, {evaluation.juror_id}: {evaluation.rationale}")
        async for result in jury.evaluate_many(CASES, run_id=RUN, concurrency=4):
            print(described(result))
    print(f"jury show {one.debate_id} --store {store}")


def main() -> int:
    """The exit code."""
    options = argparse.ArgumentParser(description="Judge cases from Python.")
    options.add_argument("--panel", help="a preset, documents, current, or a panel file; simulated jurors without it")
    options.add_argument("--store", default="sqlite:///jury.db")
    chosen = options.parse_args()
    try:
        asyncio.run(judge(chosen.panel, chosen.store))
    except InputError as error:  # a panel, a case or the store's address: nothing was judged
        print(f"cannot judge: {error}", file=sys.stderr)
        return 2
    except Halted as error:  # a refused key, a quota, a budget: what was judged is kept
        print(f"stopped: {error}", file=sys.stderr)
        return 4
    except JuryError as error:  # every other error of Jury Judge; its message is one line
        print(f"failed: {error}", file=sys.stderr)
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
