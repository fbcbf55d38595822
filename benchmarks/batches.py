"""A run in batches of three providers, over their SDKs against simulated models: peak memory and CPU by debates.

    uv run python benchmarks/batches.py --debates 2000 --debates 20000

The models are in a process of their own. Answers are scripted, so that the models cost little; `--rounds 1` has a round
of discussion and a final judge.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_PANEL = """
name: three-providers
seats:
  - {{juror_id: a, model: openai/gpt-6-sol}}
  - {{juror_id: b, model: anthropic/claude-haiku-5-5}}
  - {{juror_id: c, model: google/gemini-3.8-flash}}
discussion: {{max_rounds: {rounds}}}
final: {{method: {method}}}
"""
_KEY = "sk-test-benchmark.1"


def main() -> None:
    """Print a line a number of debates."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--debates", type=int, action="append", required=True)
    parser.add_argument("--rounds", type=int, default=0)
    asked = parser.parse_args()
    jury = [str(Path(sys.executable).with_name("jury"))]
    serving = subprocess.Popen(
        [*jury, "simulate", "--batch-seconds", "1", "--scripted"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert serving.stdout is not None
        variables = dict(
            line.removeprefix("export ").strip().split("=", 1) for line in (serving.stdout.readline() for _ in range(3))
        )
        keys = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"), _KEY)
        for debates in asked.debates:
            print(_measured(jury, debates, asked.rounds, {**os.environ, **variables, **keys}), flush=True)
    finally:
        serving.terminate()
        serving.wait()


def _measured(jury: list[str], debates: int, rounds: int, environ: dict[str, str]) -> str:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cases = folder / "cases.jsonl"
        with cases.open("w") as file:
            for number in range(debates):
                row = {
                    "id": f"c{number}",
                    "question": f"Refund order {number}.",
                    "response": f"Order {number} is paid.",
                }
                file.write(json.dumps(row) + "\n")
        panel = folder / "panel.yaml"
        panel.write_text(_PANEL.format(rounds=rounds, method="final_judge" if rounds else "majority_vote"))
        options = [
            "--run",
            "b",
            "--batch",
            "--panel",
            panel,
            "--store",
            f"sqlite:///{folder / 'b.db'}",
            "--display",
            "none",
        ]
        began, before = time.monotonic(), os.times()
        # A process between this one and the command: the peak of its children is that of this run alone.
        program = (
            "import resource, subprocess, sys; "
            "code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode; "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(code)"
        )
        command = [sys.executable, "-c", program, *jury, "run", cases, *options]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"{debates:,} debates: exit code {done.returncode}: {done.stderr.strip()[-500:]}"
        after = os.times()
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        peak = int(done.stdout) / 1024
        return f"{debates:>7,} debates: peak {peak:.0f} MB, {cpu:.0f} CPU-s, {time.monotonic() - began:.0f} s"


if __name__ == "__main__":
    main()
