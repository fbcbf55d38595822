"""`jury review`: a person's verdict on debates, on record."""

import json
from typing import TYPE_CHECKING, Any

import click

from jury_cli.calls import call, stored
from jury_cli.exits import Exit
from jury_cli.option_groups import grouped, options
from jury_cli.options import STORE, debate_ids, fields
from jury_cli.terminal import note, print_json, print_report

if TYPE_CHECKING:
    from jury_judge import DebateFilter, Records
    from jury_judge.reviews.review_queue import QueueItem
    from jury_judge.settings.reviewing import ReviewSettings


def _debate(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    return None if value is None else str(debate_ids(context, parameter, value))


@grouped("review", "Who reviews", "The queue", "One debate", "Results")
@click.argument("debate_id", metavar="[DEBATE]", required=False, callback=_debate)
@options(fields("ReviewSettings"), STORE)
def command(debate_id: str | None, *, store_url: str | None, **given: Any) -> int:
    """Review debates: the next case of the queue is shown, a key gives the verdict, a line the reason.

    The queue has debates whose verdict asks for a person or was not accepted, the most disagreement of the jury first.
    Off a terminal: jury review DEBATE --reviewer NAME --verdict VERDICT --reason TEXT. The jury's verdict stays in the
    log; the last human verdict becomes the debate's disposition. docs/reviews.md has more.
    """
    from jury_judge.extras import check_statistics
    from jury_judge.settings.reviewing import ReviewSettings

    asked = ReviewSettings.of(debate_id=debate_id, **given)
    if asked.of_agreement:
        check_statistics("jury review --agreement")
    call(_review(store_url, asked))
    return Exit.DONE


async def _review(store_url: str | None, asked: "ReviewSettings") -> None:
    from jury_judge import DebateFilter

    async with stored(store_url) as records:
        if asked.of_one:
            await _record(records, asked)
            return
        chosen = DebateFilter(run_id=asked.run_id, where=asked.where)
        if asked.of_agreement:
            await _print_agreement(records, chosen, as_json=asked.as_json)
            return
        if asked.sample is not None:
            await _draw(records, chosen, asked)
        if asked.of_queue:
            _print_queue(await _queue(records, chosen, asked), blind=asked.blind, as_json=asked.as_json)
        else:
            await _ask(records, chosen, asked)


async def _record(records: "Records", asked: "ReviewSettings") -> None:
    """Record what the options say of one debate."""
    from jury_judge.reviews.review_changes import NewReview
    from jury_views.evaluation_models import assignment_object, review_object

    debate_id, by = asked.debate_id or "", asked.reviewer or ""
    made: dict[str, Any]
    if asked.verdict is not None or asked.label is not None:
        new = NewReview(by, asked.verdict, asked.reason, asked.blind, asked.minutes, asked.decisive_item, asked.label)
        review = await records.review(debate_id, new, say=note)
        item = "" if review.decisive_item is None else f", decisive item {review.decisive_item}"
        said, made = f"{review.word}{item} recorded", review_object(review, new.reason.strip() or None)
    elif asked.assign is not None:
        assignment = await records.assign_review(debate_id, asked.assign, by=by, say=note)
        said, made = f"{assignment.reviewer} is asked for a review", assignment_object(assignment)
    else:
        number = asked.withdraw or 0
        await records.withdraw_review(debate_id, number, by=by, reason=asked.reason, say=note)
        said, made = f"{number} is withdrawn", {"withdraws": number}
    if asked.as_json:
        print(json.dumps({"debate_id": debate_id, **made}, ensure_ascii=False))
    else:
        note(f"{debate_id}: {said}")


async def _queue(records: "Records", chosen: "DebateFilter", asked: "ReviewSettings") -> "list[QueueItem]":
    return await records.review_queue(
        asked.reviewer, chosen, reviews=asked.reviews, sampled=asked.sample is not None, limit=asked.limit
    )


async def _draw(records: "Records", chosen: "DebateFilter", asked: "ReviewSettings") -> None:
    reviewer = asked.reviewer or ""
    drawn = await records.draw_reviews(
        reviewer, asked.sample or 0, seed=asked.seed, by_verdict=asked.by_verdict, chosen=chosen, say=note
    )
    for one in drawn:
        of = "" if one.verdict is None else f" that the jury called {one.verdict}"
        note(f"{one.size} of {one.population} cases{of} drawn at random for {reviewer} (seed {one.seed})")


def _print_queue(items: "list[QueueItem]", *, blind: bool, as_json: bool) -> None:
    from jury_cli.views.reviews import queue_lines, queue_object

    if as_json:
        print_json([queue_object(one, blind=blind) for one in items])
        return
    for line in queue_lines(items, blind=blind):
        print(line)
    if not items:
        note("nothing is to be reviewed")


async def _print_agreement(records: "Records", chosen: "DebateFilter", *, as_json: bool) -> None:
    from jury_cli.views.reviews import agreement_object, agreement_page

    found = await records.review_agreement(chosen)
    print_report(lambda: agreement_object(found), lambda: agreement_page(found), as_json=as_json)


async def _ask(records: "Records", chosen: "DebateFilter", asked: "ReviewSettings") -> None:
    """Ask for verdicts at a terminal."""
    from jury_cli.review_at_terminal import TerminalReview, check_terminal, review_all

    check_terminal()
    if asked.debate_id is not None:
        items = [await records.reviewable(asked.debate_id)]
    else:
        items = await _queue(records, chosen, asked)
    if not items:
        note("nothing is to be reviewed")
        return
    reviews = None if asked.debate_id is not None else asked.reviews
    await review_all(items, TerminalReview(asked.reviewer or "", asked.blind, records, reviews))
