"""A staged run, in a process of its own, to be killed:

python staged_process.py CASES STORE FOLDER LATENCY
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from jury_judge import judge_run
from jury_providers import Script

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.ladders import a_ladder, staged


def _print(line: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    cases, store, folder, latency = sys.argv[1:]
    ladder = a_ladder(Path(folder), {"pass": 1.0}, audit=1.0)
    planned = staged(Path(cases), store, ladder, concurrency=2, simulate=Script(latency=float(latency)))
    asyncio.run(judge_run(planned, _print))
