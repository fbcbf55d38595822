"""`jury review`: a person's verdict on debates, on record; asked for at a terminal, or given by options."""

import json
import sys
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from jury_cli.calls import call, stored
from jury_cli.exits import Exit
from jury_cli.option_groups import grouped, options
from jury_cli.options import STORE, debate_ids, fields
from jury_cli.streams import note
from jury_cli.terminal import page_console, print_json, print_page, print_report
from jury_events.text import pluralize
from jury_events.verdict import PASS

if TYPE_CHECKING:
    from jury_events.debate_history import DebateHistory
    from jury_judge import DebateFilter, Records
    from jury_judge.reviews.review_changes import NewReview
    from jury_judge.reviews.review_queue import QueueItem
    from jury_judge.settings.reviewing import ReviewSettings
    from jury_views.evaluation_models import ReviewChoice


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


_SKIP, _QUIT, _AGAIN = "s", "q", "r"
_END_OF_INPUT = "\x04"
_OTHERS = "s skip · q quit"


class TerminalReview(NamedTuple):
    """Who reviews, and how. `reviews`: how many people review a debate of the queue; None: the debate was named."""

    reviewer: str
    blind: bool
    records: "Records"
    reviews: int | None


def check_terminal() -> None:
    """Refuse to ask without a terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError(
            "verdicts are asked for at a terminal; off one, name a debate with --verdict, or print the queue with "
            "--list"
        )


async def review_all(items: "Sequence[QueueItem]", review: TerminalReview) -> int:
    """Review one debate after the other; returns how many were reviewed.

    Every review is recorded at once, so that nothing is lost where it is interrupted. A debate of the queue
    that was reviewed meanwhile, at another terminal, is left out.
    """
    done = 0
    for place, item in enumerate(items, 1):
        if review.reviews is not None and not await review.records.awaits_review(
            item.row.debate_id, review.reviewer, reviews=review.reviews
        ):
            continue
        answer = await _review_one(item, f"[{place} of {len(items)}]", review)
        if answer is None:
            break
        done += answer
    left = len(items) - done
    note(f"{pluralize(done, 'debate')} reviewed, {left:,} left")
    return done


async def _review_one(item: "QueueItem", place: str, review: TerminalReview) -> bool | None:
    """Whether the debate was reviewed; None: the person ends it."""
    from jury_judge.reviews.review_changes import NewReview
    from jury_views.evaluation_models import review_choices
    from jury_views.terminal.debate import render_case, render_debate

    history = await review.records.read(item.row.debate_id)
    reviewed = await review.records.reviewed_same_case(item.row.debate_id, review.reviewer) if review.blind else None
    print()
    if review.blind:
        render_case(history.events, history.texts, page_console())
    else:
        render_debate(
            history.events,
            history.exchanges,
            history.texts,
            page_console(),
            full=True,
            local=history.local,
            reviews=history.reviews,
        )
        _show_evidence(history)
    if reviewed is not None:
        which = "it" if reviewed == item.row.debate_id else f"{reviewed}, a debate of the same case,"
        note(f"{review.reviewer} has reviewed {which} before: another review of it is not recorded as blind")
    started = time.monotonic()
    choices = {one.key: one for one in review_choices(history.opened.panel.scale)}
    _show_meanings(choices.values())
    asked = " · ".join((*(f"{one.key} {one.word}" for one in choices.values()), _OTHERS))
    while True:
        click.echo(f"\n{place} {asked}: ", err=True, nl=False)
        key = _key()
        if key in {_QUIT, _SKIP}:
            return None if key == _QUIT else False
        chosen = choices.get(key)
        if chosen is None:
            continue
        minutes = round((time.monotonic() - started) / 60, 2)
        decisive = None if chosen.verdict is PASS else _decisive_item(history)
        blind = review.blind and reviewed is None
        new = NewReview(review.reviewer, chosen.verdict, _reason(), blind, minutes, decisive, chosen.label)
        recorded = await _record_answer(item.row.debate_id, new, review)
        if recorded and review.blind:
            _show_evidence(history)
        return recorded


def _show_meanings(choices: "Iterable[ReviewChoice]") -> None:
    """The labels of the panel's scale with their meanings; nothing under the three verdicts."""
    from jury_views.page import Page, TextSpan, verdict_text

    page = Page()
    for one in choices:
        if one.meaning is not None:
            page.line(TextSpan(*verdict_text(one.verdict, one.label)), f"  {one.meaning}")
    if page.lines:
        print()
        print_page(page)


def _show_evidence(history: "DebateHistory") -> None:
    """What the jurors quote, and their decisive items; nothing of debates that asked them for none."""
    from jury_views.debate_fold import asks_for_evidence
    from jury_views.terminal.evidence import evidence_page

    if asks_for_evidence(history.opened):
        print()
        print_page(evidence_page(history.events, history.texts, history.reviews))


def _decisive_item(history: "DebateHistory") -> int | None:
    """The item that the reviewer names; None: none, or the debate has no numbered items."""
    from jury_views.case_view import numbered_items

    items = numbered_items(history.opened, history.texts)
    if items is None or not items.last:
        return None
    while True:
        asked = f"First item where it went wrong (1 to {items.last}; empty: none)"
        said = _line(asked, "the number").strip()
        if not said:
            return None
        if said.isascii() and said.isdecimal() and len(said) <= len(str(items.last)) and 0 < int(said) <= items.last:
            return int(said)
        note(f"jury: there is no such item: the items are 1 to {items.last}")


def _reason() -> str:
    return _line("Reason (one line; empty: none)", "the reason")


def _line(asked: str, what: str) -> str:
    while True:
        try:
            line: str = click.prompt(asked, default="", show_default=False, err=True)
        except UnicodeDecodeError:
            note(f"jury: not recorded: {what} is not UTF-8")
        else:
            return line


async def _record_answer(debate_id: str, new: "NewReview", review: TerminalReview) -> bool | None:
    from jury_judge import StoreError
    from jury_judge.errors import ReasonRefused, ReviewRefused

    while True:
        try:
            await review.records.review(debate_id, new, say=note)
        except ReasonRefused as error:
            note(f"jury: not recorded: {error}")
            new = new._replace(reason=_reason())
        except ReviewRefused as error:
            note(f"jury: not recorded: {error}")
            return False
        except StoreError as error:
            note(f"jury: not recorded: {error}")
            click.echo("r try again · s skip · q quit: ", err=True, nl=False)
            while (key := _key()) not in {_AGAIN, _SKIP, _QUIT}:
                pass
            if key != _AGAIN:
                return None if key == _QUIT else False
        else:
            item = "" if new.decisive_item is None else f", decisive item {new.decisive_item}"
            note(f"{debate_id}: {new.label or new.verdict}{item} recorded")
            return True


def _key() -> str:
    """The next key, in lower case, echoed; the end of input quits. Ctrl-C raises KeyboardInterrupt."""
    try:
        key = click.getchar().lower()
    except EOFError:
        key = _END_OF_INPUT
    if key in {_END_OF_INPUT, ""}:
        key = _QUIT
    click.echo(key if key.isprintable() else "", err=True)
    return key
