"""`jury review`: a person's verdict on debates, on record."""

import json
from typing import TYPE_CHECKING, Any

import click

from jury_cli.calls import call, stored
from jury_cli.exits import Exit
from jury_cli.option_groups import grouped, options
from jury_cli.options import STORE, WHERE, debate_ids, finite, run_id
from jury_events.evidence import MOST_ITEM
from jury_events.verdict import Verdict

if TYPE_CHECKING:
    from jury_judge import DebateFilter, Records
    from jury_judge.reviews.review_queue import QueueItem
    from jury_judge.settings.reviewing import ReviewSettings

_GROUPS = {
    "Who reviews": ("reviewer", "blind"),
    "The queue": ("run_id", "where", "reviews", "sample", "seed", "limit"),
    "One debate": ("verdict", "label", "decisive_item", "reason", "minutes", "assign", "withdraw"),
    "Results": ("of_queue", "of_agreement", "as_json", "store_url"),
}


def _debate(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    return None if value is None else str(debate_ids(context, parameter, value))


def _name(_context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    from jury_judge.reviews.reviewer_names import RULE, is_reviewer_name

    if value and not is_reviewer_name(value):
        raise click.BadParameter(RULE, param=parameter)
    return value


@grouped("review", _GROUPS)
@click.argument("debate_id", metavar="[DEBATE]", required=False, callback=_debate)
@click.option(
    "--reviewer",
    metavar="NAME",
    envvar="JURY_REVIEWER",
    callback=_name,
    help="Who reviews; recorded for ever, so a pseudonym will do. [env JURY_REVIEWER]",
)
@click.option(
    "--blind",
    is_flag=True,
    help="Show the case and nothing that the jury or others said. With --verdict: the reviewer saw nothing of it.",
)
@click.option("--run", "run_id", metavar="ID", callback=run_id, help="Only the debates of this run.")
@options(WHERE)
@click.option(
    "--reviews",
    type=click.IntRange(1, 9),
    default=1,
    show_default=True,
    help="How many people are to review a debate: 2 for double review.",
)
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help="Draw N cases at random for the reviewer, whatever the jury said of them: their labels are a random sample.",
)
@click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=1, show_default=True, help="Of --sample: its numbers."
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most N debates of the queue.")
@click.option("--verdict", type=click.Choice([one.value for one in Verdict]), help="Record this verdict.")
@click.option(
    "--label", metavar="LABEL", help="Record this label of the panel's own scale; its outcome is the verdict."
)
@click.option(
    "--decisive-item",
    type=click.IntRange(1, MOST_ITEM),
    metavar="N",
    help="The first item where it went wrong, by its number.",
)
@click.option("--reason", metavar="TEXT", default="", help="Why; kept as a text that can be erased.")
@click.option(
    "--minutes",
    type=click.FloatRange(0, 100_000),
    callback=finite,
    metavar="M",
    help="How long it took; measured at a terminal.",
)
@click.option("--assign", metavar="NAME", callback=_name, help="Ask this person for a review; --reviewer is who asks.")
@click.option(
    "--withdraw", type=click.IntRange(min=1), metavar="N", help="Withdraw the review or assignment of this number."
)
@click.option("--list", "of_queue", is_flag=True, help="Print the queue.")
@click.option(
    "--agreement", "of_agreement", is_flag=True, help="Print how far the reviewers agree, and where they differ."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@options(STORE)
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
    from jury_cli.terminal import note
    from jury_judge.reviews.review_changes import NewReview
    from jury_views.review_objects import assignment_object, review_object

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
    from jury_cli.terminal import note

    reviewer = asked.reviewer or ""
    drawn = await records.draw_reviews(reviewer, asked.sample or 0, seed=asked.seed, chosen=chosen, say=note)
    note(f"{drawn.size} of {drawn.population} cases drawn at random for {reviewer} (seed {drawn.seed})")


def _print_queue(items: "list[QueueItem]", *, blind: bool, as_json: bool) -> None:
    from jury_cli.terminal import note
    from jury_cli.views.reviews import queue_lines, queue_object

    if as_json:
        print(json.dumps([queue_object(one, blind=blind) for one in items], ensure_ascii=False, indent=2))
        return
    for line in queue_lines(items, blind=blind):
        print(line)
    if not items:
        note("nothing is to be reviewed")


async def _print_agreement(records: "Records", chosen: "DebateFilter", *, as_json: bool) -> None:
    from jury_cli.terminal import page_console
    from jury_cli.views.reviews import agreement_object, agreement_page

    found = await records.review_agreement(chosen)
    if as_json:
        print(json.dumps(agreement_object(found), ensure_ascii=False, indent=2))
    else:
        agreement_page(found).print(page_console())


async def _ask(records: "Records", chosen: "DebateFilter", asked: "ReviewSettings") -> None:
    """Ask for verdicts at a terminal."""
    from jury_cli.review_session import Session, check_terminal, review_all
    from jury_cli.terminal import note

    check_terminal()
    if asked.debate_id is not None:
        items = [await records.reviewable(asked.debate_id)]
    else:
        items = await _queue(records, chosen, asked)
    if not items:
        note("nothing is to be reviewed")
        return
    reviews = None if asked.debate_id is not None else asked.reviews
    await review_all(items, Session(asked.reviewer or "", asked.blind, records, reviews))
