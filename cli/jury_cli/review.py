"""`jury review`: a person's verdict on debates, on record."""

import json
from typing import TYPE_CHECKING, Any

import click

from jury_cli.exits import Exit
from jury_cli.option_groups import grouped
from jury_cli.options import debate_ids, finite, resolved_store, run_id, store_option, where_option
from jury_events.verdict import Verdict

if TYPE_CHECKING:
    from jury_judge.reviews.review_queue import QueueItem
    from jury_judge.reviews.reviews import ReviewRecorder
    from jury_store.debate_rows import DebateFilter
    from jury_store.event_store import EventStore

_GROUPS = {
    "Who reviews": ("reviewer", "blind"),
    "The queue": ("run_id", "where", "reviews", "sample", "seed", "limit"),
    "One debate": ("verdict", "reason", "minutes", "assign", "withdraw"),
    "Results": ("of_queue", "of_agreement", "as_json", "store_url"),
}
_SEED = 1
_OF_ONE = ("verdict", "assign", "withdraw")
_OF_QUEUE = {
    "sample": "--sample",
    "of_queue": "--list",
    "of_agreement": "--agreement",
    "run_id": "--run",
    "where": "--where",
    "limit": "--limit",
}
_NOT_WITH = {
    "assign": ("reason", "minutes", "blind"),
    "withdraw": ("minutes", "blind"),
    "of_agreement": ("sample", "limit", "blind"),
}
"""Options that would be dropped silently."""


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
@where_option
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
    "--seed", type=click.IntRange(0, 2**63 - 1), default=_SEED, show_default=True, help="Of --sample: its numbers."
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most N debates of the queue.")
@click.option("--verdict", type=click.Choice([one.value for one in Verdict]), help="Record this verdict.")
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
@store_option
def command(debate_id: str | None, **options: Any) -> int:
    """Review debates: the next case of the queue is shown, a key gives the verdict, a line the reason.

    The queue has debates whose verdict is needs_review or was not accepted, the most disagreement of the jury first.
    Off a terminal: jury review DEBATE --reviewer NAME --verdict VERDICT --reason TEXT. The jury's verdict stays in the
    log; the last human verdict becomes the debate's disposition. docs/reviews.md has more.
    """
    from jury_judge.reviews.reviews import ReviewRecorder

    _check_together(debate_id, options)
    url = resolved_store(options.pop("store_url"))
    if debate_id is not None and any(options[name] is not None for name in _OF_ONE):
        return _of_one(debate_id, ReviewRecorder(url), options)
    return _of_many(debate_id, url, options)


def _check_together(debate_id: str | None, options: dict[str, Any]) -> None:
    single = [name for name in _OF_ONE if options[name] is not None]
    many = [flag for name, flag in _OF_QUEUE.items() if options[name]]
    if len(single) > 1:
        raise click.UsageError(f"give one of --{' and --'.join(single)}")
    if single and debate_id is None:
        raise click.UsageError(f"--{single[0]} is about one debate: name it")
    if many and debate_id is not None:
        raise click.UsageError(f"{many[0]} is about the queue, and a debate is named: leave one of them out")
    if options["of_queue"] and options["of_agreement"]:
        raise click.UsageError("give --list or --agreement, not both")
    if (options["reason"] or options["minutes"] is not None) and not single:
        raise click.UsageError(
            "--reason and --minutes go with --verdict; at a terminal they are asked for and measured"
        )
    _check_dropped(options)
    needs_name = not (options["of_queue"] or options["of_agreement"]) or options["sample"]
    if needs_name and not options["reviewer"]:
        raise click.UsageError("say --reviewer NAME, or set JURY_REVIEWER: who reviews is recorded")
    if options["as_json"] and not (single or options["of_queue"] or options["of_agreement"]):
        raise click.UsageError("--json prints what --list, --agreement, --verdict, --assign and --withdraw come to")


def _check_dropped(options: dict[str, Any]) -> None:
    for name, others in _NOT_WITH.items():
        dropped = next((one for one in others if options[one] not in (None, "") and options[one] is not False), None)
        if options[name] and dropped is not None:
            flag = _OF_QUEUE.get(name, f"--{name}")
            raise click.UsageError(f"--{dropped} has no meaning with {flag}: leave it out")
    if options["seed"] != _SEED and options["sample"] is None:
        raise click.UsageError("--seed is that of a random sample: it goes with --sample N")


def _of_one(debate_id: str, recorder: "ReviewRecorder", options: dict[str, Any]) -> int:
    from jury_cli.terminal import note
    from jury_judge.reviews.reviews import NewReview
    from jury_views.review_objects import assignment_object, review_object

    reviewer: str = options["reviewer"]
    made: dict[str, Any]
    if options["verdict"] is not None:
        verdict = Verdict(options["verdict"])
        new = NewReview(reviewer, verdict, options["reason"], options["blind"], options["minutes"])
        review = recorder.record(debate_id, new)
        said, made = f"{verdict} recorded", review_object(review, new.reason.strip() or None)
    elif options["assign"] is not None:
        assignment = recorder.assign(debate_id, options["assign"], by=reviewer)
        said, made = f"{assignment.reviewer} is asked for a review", assignment_object(assignment)
    else:
        recorder.withdraw(debate_id, options["withdraw"], by=reviewer, reason=options["reason"])
        said, made = f"{options['withdraw']} is withdrawn", {"withdraws": options["withdraw"]}
    if options["as_json"]:
        print(json.dumps({"debate_id": debate_id, **made}, ensure_ascii=False))
    else:
        note(f"{debate_id}: {said}")
    return Exit.DONE


def _of_many(debate_id: str | None, url: str, options: dict[str, Any]) -> int:
    from jury_judge.extras import check_statistics
    from jury_store.debate_rows import DebateFilter
    from jury_store.opening import open_store

    wanted = DebateFilter(run_id=options["run_id"], where=options["where"])
    if options["of_agreement"]:
        check_statistics("jury review --agreement")
    store = open_store(url, write=False)
    try:
        if options["of_agreement"]:
            return _print_agreement(store, wanted, as_json=options["as_json"])
        if options["sample"] is not None:
            _draw(store, url, wanted, options)
        if options["of_queue"]:
            return _print_queue(_queue(store, wanted, options), blind=options["blind"], as_json=options["as_json"])
        return _ask(store, url, debate_id, wanted, options)
    finally:
        store.close()


def _queue(store: "EventStore", wanted: "DebateFilter", options: dict[str, Any]) -> "list[QueueItem]":
    from jury_judge.reviews.review_queue import review_queue

    found = review_queue(store, options["reviewer"], wanted, reviews=options["reviews"])
    if options["sample"] is not None:
        found = [one for one in found if one.why == "sampled"]
    return found[: options["limit"]]


def _draw(store: "EventStore", url: str, wanted: "DebateFilter", options: dict[str, Any]) -> None:
    """Draw the sample and record the assignments that are not there yet."""
    from jury_cli.terminal import note
    from jury_judge.reviews.review_queue import draw_sample
    from jury_judge.reviews.reviews import ReviewRecorder

    reviewer: str = options["reviewer"]
    sample = draw_sample(store, options["sample"], options["seed"], wanted)
    ReviewRecorder(url).assign_all(sample.debates, reviewer, by=reviewer, sample=sample.drawn)
    drawn = sample.drawn
    note(f"{drawn.size} of {drawn.population} cases drawn at random for {reviewer} (seed {drawn.seed})")


def _print_queue(items: "list[QueueItem]", *, blind: bool, as_json: bool) -> int:
    from jury_cli.terminal import note
    from jury_cli.views.reviews import queue_lines, queue_object

    if as_json:
        print(json.dumps([queue_object(one, blind=blind) for one in items], ensure_ascii=False, indent=2))
        return Exit.DONE
    for line in queue_lines(items, blind=blind):
        print(line)
    if not items:
        note("nothing is to be reviewed")
    return Exit.DONE


def _print_agreement(store: "EventStore", wanted: "DebateFilter", *, as_json: bool) -> int:
    from jury_cli.terminal import page_console
    from jury_cli.views.reviews import agreement_object, agreement_page
    from jury_judge.reviews.review_agreement import review_agreement

    found = review_agreement(store, wanted)
    if as_json:
        print(json.dumps(agreement_object(found), ensure_ascii=False, indent=2))
    else:
        agreement_page(found).print(page_console())
    return Exit.DONE


def _ask(store: "EventStore", url: str, debate_id: str | None, wanted: "DebateFilter", options: dict[str, Any]) -> int:
    from jury_cli.review_session import Session, check_terminal, review_all
    from jury_cli.terminal import note
    from jury_events.errors import DebateNotFound
    from jury_judge.reviews.review_queue import QueueItem, why_waiting
    from jury_judge.reviews.reviews import ReviewRecorder, check_reviewable

    check_terminal()
    if debate_id is not None:
        row = store.debate(debate_id)
        if row is None:
            raise DebateNotFound.named(debate_id)
        check_reviewable(store.history(debate_id))
        items = [QueueItem(row, "assigned", None)]
    else:
        items = _queue(store, wanted, options)
    if not items:
        note("nothing is to be reviewed")
        return Exit.DONE
    named = debate_id is not None

    def still_waits(one: str) -> bool:
        """A debate that was reviewed meanwhile, at another terminal, is left out."""
        now = store.debate(one)
        return now is not None and (named or why_waiting(now, options["reviewer"], options["reviews"]) is not None)

    review_all(items, Session(options["reviewer"], options["blind"], ReviewRecorder(url), store, still_waits))
    return Exit.DONE
