"""`jury show`: one debate, on one screen or whole."""

from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from jury_cli.calls import read_from
from jury_cli.exits import Exit
from jury_cli.option_groups import options
from jury_cli.options import STORE, fields
from jury_cli.streams import note
from jury_cli.terminal import page_console, print_json, print_page, print_report
from jury_events.text import pluralize

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jury_events.debate_history import DebateHistory
    from jury_events.drift_facts import DriftFacts
    from jury_events.run_facts import RunFacts
    from jury_judge import IntegrityState, Records
    from jury_judge.settings.debates import ShowSettings
    from jury_views.terminal.calls import UncachedCost


@click.command("show")
@click.argument("name", metavar="DEBATE|CASE|FILE")
@click.option("--run", "run_id", metavar="RUN", help="The debate of CASE in this run.")
@options(STORE)
@options(fields("ShowSettings"))
@click.option("--json", "as_json", is_flag=True, help="Print the result model, or what is shown instead, as JSON.")
def command(name: str, run_id: str | None, store_url: str | None, *, as_json: bool, **given: Any) -> int:
    """Show one debate: the verdict, why, the item where it went wrong, and how the seats voted.

    DEBATE is the id of a debate, in a run RUN~CASE, or of a case: then its newest debate is shown; or a cassette,
    without any store. Of the file of a run or a baseline, or a folder with one, it is what that says of itself.
    """
    from jury_cli.import_ import cassette_store, every_debate, named_files
    from jury_judge.settings.debates import ShowSettings

    asked = ShowSettings.of(**given)
    if files := named_files([name]):
        with cassette_store(files) as url:
            debates, runs = read_from(url, every_debate), read_from(url, lambda records: records.recorded_runs())
            drifts = read_from(url, lambda records: records.drifts())
            if len(debates) != 1 and (runs or drifts):
                return _show_streams(runs.values(), drifts, as_json=as_json)
            if len(debates) > 1:
                raise click.UsageError(f"{name} has {pluralize(len(debates), 'debate')}: name one cassette")
            return _show(debates[0], url, asked, as_json=as_json)
    return _show(_debate_named(name, run_id, store_url), store_url, asked, as_json=as_json)


def _show_streams(runs: "Iterable[RunFacts]", drifts: "Iterable[DriftFacts]", *, as_json: bool) -> int:
    """What the files of runs and baselines say; how much of them is there, was said when they were read."""
    from jury_cli.terminal import page_console
    from jury_cli.views.runs import run_facts_lines, run_facts_object
    from jury_views.drift_view import baseline_report, drift_object
    from jury_views.terminal.report_page import drift_page

    if as_json:
        print_json([*map(run_facts_object, runs), *map(drift_object, drifts)])
        return Exit.DONE
    for drift in drifts:
        drift_page(baseline_report(drift)).print(page_console())
    for one in runs:
        for line in run_facts_lines(one):
            print(line)
    return Exit.DONE


def _show(debate_id: str, store_url: str | None, asked: "ShowSettings", *, as_json: bool) -> int:
    if asked.as_events:
        return _events(store_url, debate_id, as_json=as_json)
    history = read_from(store_url, lambda records: records.read(debate_id))
    if asked.as_prompts:
        _show_prompts(history, asked, as_json=as_json)
    elif asked.as_evidence:
        _show_evidence(history, as_json=as_json)
    else:
        _show_debate(history, full=asked.full, as_json=as_json)
    return Exit.DONE


def _debate_named(name: str, run_id: str | None, store_url: str | None) -> str:
    """The debate that is meant; a note says how many others its case has."""
    found = read_from(store_url, lambda records: records.named(name, run_id))
    if found.others:
        others = pluralize(found.others, "other debate")
        note(f"{found.debate_id}; its case has {others}: jury list --search {quote(name)}, or show it with --run RUN")
    return found.debate_id


def _events(store_url: str | None, debate_id: str, *, as_json: bool) -> int:
    """The events of a debate, also of one that was altered: then a note says so, and the exit code."""

    async def found(records: "Records") -> "tuple[DebateHistory, IntegrityState]":
        history = await records.history(debate_id)
        return history, (await records.integrity_states([history]))[0]

    history, state = read_from(store_url, found)
    if not state.intact:
        note(f"jury: debate {debate_id} was altered: {state.failures[0]}; see jury verify {debate_id}")
    _show_events(history, as_json=as_json)
    return Exit.DONE if state.intact else Exit.INTEGRITY


def _show_debate(history: "DebateHistory", *, full: bool, as_json: bool) -> None:
    from jury_views.debate_results import result_of
    from jury_views.terminal.debate import render_debate
    from jury_views.terminal.summary import summary_page

    if as_json:
        print_json(result_of(history).data())
        return
    if not full:
        print_page(
            summary_page(history.events, history.exchanges, history.texts, local=history.local, reviews=history.reviews)
        )
        _show_reviews(history)
        return
    render_debate(
        history.events,
        history.exchanges,
        history.texts,
        page_console(),
        full=True,
        local=history.local,
        reviews=history.reviews,
        uncached=_uncached(history),
    )
    _show_reviews(history)


def _uncached(history: "DebateHistory") -> "UncachedCost | None":
    from jury_judge.runs.usage import list_prices_of, uncached_today
    from jury_views.terminal.calls import UncachedCost

    usages = [call.usage for call in history.exchanges]
    used = any(usage.cached_input_tokens or usage.cache_writes for usage in usages)
    cost = uncached_today(history.exchanges) if used else None
    return None if cost is None else UncachedCost(cost, list_prices_of())


def _show_reviews(history: "DebateHistory") -> None:
    from jury_cli.views.reviews import reviews_section
    from jury_views.evaluation_models import reasons_in
    from jury_views.page import Page

    if history.stored_reviews:
        page = Page()
        page.blank()
        reviews_section(page, history.reviews, reasons_in(history), history.local.later_events)
        print_page(page)


def _show_evidence(history: "DebateHistory", *, as_json: bool) -> None:
    from jury_views.terminal.evidence import evidence_data, evidence_page

    print_report(
        lambda: evidence_data(history.events, history.texts),
        lambda: evidence_page(history.events, history.texts, history.reviews),
        as_json=as_json,
    )


def _show_prompts(history: "DebateHistory", asked: "ShowSettings", *, as_json: bool) -> None:
    from jury_views.terminal.calls import prompts_data, prompts_page

    step = asked.step
    calls = [call for call in history.exchanges if step in {None, call.step}]
    if not calls:
        steps = ", ".join(dict.fromkeys(call.step for call in history.exchanges)) or "none"
        raise click.UsageError(
            f"no model was asked in {step!r}; the steps are {steps}" if step else "no model was asked"
        )
    print_report(
        lambda: prompts_data(calls, history.texts, marked=asked.marked),
        lambda: prompts_page(calls, history.texts, marked=asked.marked),
        as_json=as_json,
    )


def _show_events(history: "DebateHistory", *, as_json: bool) -> None:
    from jury_views.event_words import event_lines, events_page

    stored = (*history.stored_events, *history.stored_exchanges, *history.stored_reviews)
    if as_json:
        print_json([line._asdict() for line in event_lines(stored)])
        return
    language = history.opened.panel.language
    print_page(events_page(event_lines(stored, language=language), language))
