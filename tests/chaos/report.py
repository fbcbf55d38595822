"""The table of a campaign: a row a kind.

`uv run --group test python -m chaos.report REPORT…`, from the folder `tests`, prints that of several campaigns
together.
"""

import json
import sys
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from chaos.scenario import ScenarioReport
from chaos.strikes import KINDS

_HEAD = ("fault", "strikes", "runs", "calls of the command", "served", "recorded", "steps asked again", "violations")


def table(found: Sequence[ScenarioReport]) -> str:
    """As Markdown, with sums: of those in which a process was killed, and of all."""
    order = list(KINDS)
    ordered = sorted(found, key=lambda one: order.index(one.scenario.kind))
    rows = [_row(kind, list(these)) for kind, these in groupby(ordered, lambda one: one.scenario.kind)]
    kills = [one for one in ordered if KINDS[one.scenario.kind].kills]
    lines = [_HEAD, ("---", *["---:"] * (len(_HEAD) - 1)), *rows, _row("all kills", kills), _row("all", ordered)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _row(name: str, these: Sequence[ScenarioReport]) -> tuple[str, ...]:
    def total(numbers: Iterable[int]) -> str:
        return f"{sum(numbers):,}"

    return (
        name,
        total(one.struck for one in these),
        total(1 for _ in these),
        total(one.calls for one in these),
        total(one.served for one in these),
        total(one.recorded for one in these),
        total(one.asked_again for one in these),
        total(len(one.violations) for one in these),
    )


if __name__ == "__main__":
    found = [one for path in sys.argv[1:] for one in json.loads(Path(path).read_text())["scenarios"]]
    sys.stdout.write(table(list(map(ScenarioReport.from_json, found))) + "\n")
