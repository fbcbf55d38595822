"""`jury run --dry-run`: an estimate of a run before anything is spent."""

import json
from collections.abc import Callable, Iterator

from jury_cli.exits import Exit
from jury_cli.streams import note
from jury_cli.terminal import print_json
from jury_events.text import dollars, duration, pluralize, visible_line
from jury_judge.runs.cost_estimate import Range, ReadingEstimate
from jury_judge.runs.estimated_run import SECONDS_A_CALL, EstimatedRun, StageEstimate, estimate_run
from jury_judge.runs.plan import RunPlan

_KEPT_APART = "Repairs, new tries and fallbacks are not counted."


def dry_run(planned: RunPlan, *, as_json: bool) -> Exit:
    """Print what the debates that are not over would take. Nothing is written, started or called."""
    found = estimate_run(planned)
    for line in found.outside:
        note(f"jury: {line}")
    if as_json:
        print_json(found.data())
        return _read_all(planned)
    warning = found.same_model_warning
    families = [f"own family: {line}" for line in found.checked.families.lines()]
    remarks = [*families, *found.recipients, *([] if warning is None else [f"warning: {warning}"])]
    for line in (*_lines(found), *map(_sentence, remarks)):
        print(visible_line(line, 1000))
    return _read_all(planned)


def _read_all(planned: RunPlan) -> Exit:
    for line in planned.cases.unreadable.lines():
        note(line)
    return Exit.STOPPED if planned.cases.unreadable.count else Exit.DONE


def _lines(one: EstimatedRun) -> Iterator[str]:
    run, checked, found = one.run, one.checked, one.found
    before = f", {checked.ended} of {checked.read} judged before" if checked.ended else ""
    yield f"run {run.run_id}: {pluralize(found.debates, 'debate')} to run{before}; least - likely - most:"
    yield f"  calls     {_row(found.calls, _number)}"
    for model in found.models:
        yield f"  {model.model}"
        yield f"    calls   {_row(model.calls, _number)}"
        yield f"    tokens  in {_row(model.input_tokens, _number)}; out {_row(model.output_tokens, _number)}"
        yield f"    cost    {_cost(model.cost, 'no price is known; give one with --prices FILE')}"
    yield from _cost_lines(one)
    if one.waves is not None:
        least, most = one.waves
        span = f"{least}" if least == most else f"{least} - {most}"
        more = ", each up to a day; more where calls fail. The cost is that of live calls"
        yield f"  waves     {span} of batches{more}" if most else "  waves     none: every call is made live"
    for name, reason in one.asked_live.items():
        yield f"  live      {name}: {reason}"
    yield from map(_stage_line, one.stages)
    yield f"  disk      {_row(found.disk_bytes, _bytes)} (from the sizes of events and texts)"
    if said := _time(one):
        yield f"  time      {'; '.join(said)}"
    whole = (
        "every case" if found.sample * run.repeats >= found.debates else f"{found.sample} cases spread over the files"
    )
    yield f"From the prompts of {whole}. {_KEPT_APART}"
    yield f"List prices of {one.list_prices_of}; a price file of yours comes first."
    if (omissions := checked.omissions.line()) is not None:
        yield f"{omissions[0].upper()}{omissions[1:]}; jury cases shows where."
    yield from map(_sentence, checked.fit.lines())
    yield from map(_reading_line, found.reading)
    if one.on_cluster:
        yield "Keys are on the nodes of the cluster and were not checked."
    for name, variables in one.keys.items():
        yield f"The provider {name} has no key: set {' or '.join(variables)}."


def _cost_lines(one: EstimatedRun) -> Iterator[str]:
    """What it costs; what is known of it where a price is not; and how far `--max-cost` reaches."""
    found = one.found
    unknown = [model.model for model in found.models if model.cost is None]
    if unknown:
        known = f"{_row(found.known_cost, dollars)} and that of" if len(unknown) < len(found.models) else "that of"
        yield f"  cost      {known} {', '.join(unknown)}, of which no price is known. This line in a file for --prices"
        yield "            says it, in US dollars for a million tokens:"
        yield f"            price = [{{models = {json.dumps(unknown)}, input = …, output = …}}]"
    else:
        yield f"  cost      {_cost(found.cost, '')}"
    if one.stages and (whole := one.whole_cost) is not None:
        certified = all(stage.share is not None for stage in one.stages)
        how = (
            "no case goes on - as by the certificate - every case does" if certified else "every case goes through them"
        )
        yield f"  in all    {_row(whole, dollars)}, with all stages: {how}"
    if one.affordable is None:
        return
    surely, likely = one.affordable
    spent = f" ({dollars(one.spent)} are spent)" if one.spent else ""
    bound = f"  bound     --max-cost {one.bounds.changed(max_calls=None).words}{spent} "
    if surely == found.debates:
        yield f"{bound}is enough for all"
    elif likely == found.debates:
        yield f"{bound}is likely enough for all, surely for {surely:,}"
    else:
        debates = pluralize(found.debates, "debate")
        yield f"{bound}stops the run after about {likely:,} of {debates}, surely not before {surely:,}"


def _time(one: EstimatedRun) -> list[str]:
    said = []
    if one.minutes is not None:
        at_once = pluralize(one.concurrency, "debate")
        said.append(f"about {duration(60 * one.minutes)} with {at_once} at once, if a call takes {SECONDS_A_CALL:g} s")
    if one.found.minutes is not None:
        said.append(f"at least {one.found.minutes:,.1f} min by the limits of the panel file, for what is likely")
    return said


def _stage_line(one: StageEstimate) -> str:
    """What a stage takes of a ladder: if every case reaches it, and as many as where the ladder was certified."""
    whole = one.whole
    cost = "" if whole.cost is None else f", {_row(whole.cost, dollars)}"
    said = (
        f"  stage {one.number}   at most {pluralize(whole.debates, 'debate')}: {_row(whole.calls, _number)} calls{cost}"
    )
    if one.number == 1:
        return f"{said} (counted above)"
    if one.debates is None:
        return f"{said}, not counted above"
    expected = "" if whole.cost is None else f", {dollars(whole.cost.likely * (one.share or 0.0))}"
    return f"{said}, not counted above; by the certificate about {one.debates:,}{expected}"


def _reading_line(one: ReadingEstimate) -> str:
    """What it takes that a seat reads in parts, or from an outline: part of the sums above."""
    name = one.juror_id or "the final judge"
    cost = "" if one.cost is None else f", {_row(one.cost, dollars)}"
    return f"  {name} takes {_row(one.calls, _number)} calls{cost} for them until its first evaluation, counted above."


def _sentence(line: str) -> str:
    return f"{line[0].upper()}{line[1:]}."


def _row(amounts: Range, form: Callable[[float], str]) -> str:
    return " - ".join(form(amount) for amount in amounts)


def _cost(amounts: Range | None, unknown: str) -> str:
    return unknown if amounts is None else _row(amounts, dollars)


def _number(amount: float) -> str:
    return f"{round(amount):,}"


def _bytes(amount: float) -> str:
    for unit in ("KB", "MB"):
        amount /= 1000
        if amount < 1000:  # noqa: PLR2004  (decimal units)
            return f"{amount:,.1f} {unit}"
    return f"{amount / 1000:,.1f} GB"
