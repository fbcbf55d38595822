"""`jury export --to`: scores of debates, written to the tool that has the traces that they judged."""

import json
from collections import Counter
from contextlib import aclosing
from typing import TYPE_CHECKING

from jury_cli.calls import call, stored
from jury_cli.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Callable

    from jury_events.local_events import ScoreTargetName
    from jury_judge.scores.score_export import ExportedScores
    from jury_judge.settings.debates import Selection


def write_scores(
    selection: "Selection", target: "ScoreTargetName", *, dry_run: bool, store_url: str | None, as_json: bool
) -> int:
    """Write scores, and print a line a debate; returns the exit code."""
    counts = Counter[str]()

    def take(one: "ExportedScores") -> None:
        counts[one.status] += 1
        if as_json:
            scores = {score.name: score.value for score in one.scores}
            print(json.dumps({**one._asdict(), "scores": scores, "dry_run": dry_run}, ensure_ascii=False))
        else:
            _print(one, dry_run=dry_run)

    try:
        call(_written(selection, target, store_url, dry_run=dry_run, take=take))
    finally:
        _note(counts, target, dry_run=dry_run)
    return Exit.INTEGRITY if counts["unreadable"] else Exit.DONE


async def _written(
    selection: "Selection",
    target: "ScoreTargetName",
    store_url: str | None,
    *,
    dry_run: bool,
    take: "Callable[[ExportedScores], None]",
) -> None:
    from jury_cli.judging import note_line

    async with (
        stored(store_url) as records,
        aclosing(records.export_scores(selection, target, dry_run=dry_run, say=note_line)) as found,
    ):
        async for one in found:
            take(one)


def _print(one: "ExportedScores", *, dry_run: bool) -> None:
    from jury_events.text import visible_line

    if one.status == "unchanged":
        return
    if one.detail is not None:
        said = "left out" if one.status == "left_out" else "unreadable"
        print(visible_line(f"{one.debate_id}: {said}: {one.detail}", 1000))
        return
    would = "would be " if dry_run else ""
    values = ", ".join(f"{score.name} {score.value}" for score in one.scores)
    print(visible_line(f"{one.debate_id}: {would}{one.status} on trace {one.trace_id}: {values}", 1000))
    if one.repeated:
        print(
            visible_line(
                f"{one.debate_id}: an earlier call ended before it recorded what it wrote: these scores may stand "
                f"twice on trace {one.trace_id}",
                1000,
            )
        )


def _note(counts: Counter[str], target: str, *, dry_run: bool) -> None:
    from jury_cli.terminal import note
    from jury_events.text import pluralize

    if not counts:
        return
    said = ", ".join(f"{number:,} {status.replace('_', ' ')}" for status, number in sorted(counts.items()))
    note(f"{target}: {pluralize(counts.total(), 'debate')}{': ' + said if said else ''}{', nothing written' * dry_run}")
