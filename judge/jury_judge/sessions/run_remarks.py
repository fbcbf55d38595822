"""What is said of the cases of a run: before it is judged, and at its end."""

from collections.abc import Iterable, Iterator
from itertools import islice

from jury_cases.omissions import omissions_text
from jury_events.text import pluralize, visible_line
from jury_judge.runs.preflight import PreflightReport
from jury_judge.sessions.run_plan import RunPlan

_NAMED = 6


def remarks(planned: RunPlan, checked: PreflightReport) -> Iterator[str]:
    """Lines about the cases: further repeats, columns that nearly have a name that is read, what is not shown, what
    is too long.
    """
    if checked.beyond:
        further = "1 further repeat" if checked.beyond == 1 else f"{checked.beyond} further repeats"
        yield f"the run has {further} of its cases from an earlier call; they stay recorded and are not printed"
    yield from planned.cases.notes.lines()
    if checked.total is not None:
        yield from planned.cases.notes.unmatched_roles()
    if (blind := checked.omissions.blind_line()) is not None:
        yield blind
    line = checked.omissions.line()
    if line is not None and checked.total is None:
        line += f" (of the first {pluralize(checked.omissions.cases, 'case')}; jury cases reads them all)"
    if line is not None:
        yield line
    more = "" if checked.total is not None else " (of the cases read so far; jury cases --summary reads them all)"
    yield from _changed(checked)
    if checked.fit.too_long is not None:
        yield f"warning: {checked.fit.too_long}{more}"
    if checked.fit.not_whole is not None:
        yield f"{checked.fit.not_whole}{more}"


def closing_remarks(planned: RunPlan, checked: PreflightReport, *, whole: bool) -> Iterator[str]:
    """Lines about the cases at the end of a run; `whole`: it was not interrupted."""
    yield from _changed(checked)
    if erased := planned.cases.notes.erased:
        yield f"{pluralize(len(erased), 'case')} left out, whose texts were erased: {_named(erased)}"
    # Of a resumed run not all cases are built, so that a role may occur in the others.
    if whole and checked.total is None and checked.recorded is None:
        yield from planned.cases.notes.unmatched_roles()


def _changed(checked: PreflightReport) -> Iterator[str]:
    return (f"warning: {line}" for line in checked.changed.lines())


def not_shown(checked: PreflightReport) -> Iterator[tuple[str, str]]:
    """The cases that were read and have parts that jurors are not shown: the id, and these parts."""
    if checked.omissions.line() is None:
        return
    for case in checked.cases.kept():
        if omissions := checked.omissions.of(case):
            yield case.case_id, omissions_text(omissions)


def _named(ids: Iterable[str]) -> str:
    first = [visible_line(one, 60) for one in islice(ids, _NAMED + 1)]
    return ", ".join(first[:_NAMED]) + (" …" if len(first) > _NAMED else "")
