"""A person reviews debates one by one at a terminal: the case is shown, a key gives the verdict, a line the reason."""

import sys
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from jury_cli.terminal import note, page_console, print_page
from jury_events.text import pluralize
from jury_events.verdict import PASS

if TYPE_CHECKING:
    from jury_events.debate_history import DebateHistory
    from jury_judge import Records
    from jury_judge.reviews.review_changes import NewReview
    from jury_judge.reviews.review_queue import QueueItem
    from jury_views.evaluation_models import ReviewChoice

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
        answer = await _review(item, f"[{place} of {len(items)}]", review)
        if answer is None:
            break
        done += answer
    left = len(items) - done
    note(f"{pluralize(done, 'debate')} reviewed, {left:,} left")
    return done


async def _review(item: "QueueItem", place: str, review: TerminalReview) -> bool | None:
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
        render_debate(history.events, history.exchanges, history.texts, page_console(), full=True, local=history.local)
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
        recorded = await _record(item.row.debate_id, new, review)
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
        print_page(evidence_page(history.events, history.texts))


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


async def _record(debate_id: str, new: "NewReview", review: TerminalReview) -> bool | None:
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
