"""What a list of debates comes to: numbers of debates, verdicts, calls, tokens, dollars."""

from collections import Counter
from collections.abc import Iterable

from jury_store.debate_rows import Totals
from jury_store.projection import Row, ended_as


def one_line(row: Row) -> Row:
    """One debate as a group of one."""
    return {**row, "debates": 1, "scores": row["final_score"], "known_cost": row["cost"] is not None}


def added_up(groups: Iterable[Row]) -> Totals:
    """What groups of debates come to: each has a status, a verdict, and the sums over its debates."""
    found: Counter[str] = Counter()
    cost = 0.0
    for group in groups:
        number = group["debates"]
        for name in ended_as(group):
            found[name] += number
        for name in ("calls", "input_tokens", "output_tokens", "known_cost"):
            found[name] += int(group[name] or 0)
        found["scores"] += int(group["scores"] or 0) if group["status"] == "completed" else 0
        cost += group["cost"] or 0.0
    counts = ("debates", "completed", "failed", "cancelled", "safe_pass", "needs_review", "unsafe_fail")
    sums = ("calls", "input_tokens", "output_tokens")
    return Totals(
        **{name: found[name] for name in (*counts, *sums)},
        mean_score=found["scores"] / found["completed"] if found["completed"] else None,
        cost=cost,
        unknown_cost=found["debates"] - found["known_cost"],
    )
