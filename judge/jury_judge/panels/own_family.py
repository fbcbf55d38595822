"""Seats of the judged agent's own model family: named before a run, refused, or left out of the debate."""

from collections import Counter, defaultdict

from jury_events.case import Case
from jury_events.models import model_family
from jury_events.panel import FinalJudge, Panel, Seat
from jury_events.text import pluralize, visible_line
from jury_judge.errors import RunRefused

AGENT_MODEL = "agent_model"
"""The key of a case's metadata that names the model of the judged agent."""

_NAMED = 3


def own_family(panel: Panel, case: Case) -> tuple[Seat | FinalJudge, ...]:
    """The seats, and the final judge, of the family of the judged agent, also by a fallback; () if it is not known."""
    agent = case.metadata.get(AGENT_MODEL)
    family = model_family(agent) if isinstance(agent, str) else None
    if family is None:
        return ()
    return tuple(
        place
        for place in panel.seats_and_judge
        if family in {model_family(one) for one in (place.model, *place.fallbacks)}
    )


def seats_left_out(panel: Panel, case: Case) -> tuple[str, ...]:
    """The ids of the seats that do not judge a case.

    Raises:
        RunRefused: the panel refuses such cases, or every seat would be left out.
    """
    if panel.own_family is None:
        return ()
    found = own_family(panel, case)
    seats = tuple(one.juror_id for one in found if isinstance(one, Seat))
    if panel.own_family == "refuse" and found:
        raise RunRefused(
            f"case {visible_line(case.case_id, 100)}: {', '.join(map(_named, found))} is of the family of the judged "
            f"agent, {_agent(case)}, and the panel has own_family: refuse; seat others, or write warn or leave-out"
        )
    if len(seats) == len(panel.seats):
        raise RunRefused(
            f"case {visible_line(case.case_id, 100)}: every seat is of the family of the judged agent, {_agent(case)}: "
            "own_family: leave-out leaves none"
        )
    return seats


class OwnFamilies:
    """How many cases of a run are judged by seats of the agent's own family.

    Args:
        panel: of the run.
    """

    def __init__(self, panel: Panel) -> None:
        self._panel = panel
        self._cases: Counter[tuple[str, str]] = Counter()
        self._first: dict[tuple[str, str], list[str]] = defaultdict(list)

    def add(self, case: Case) -> None:
        """Count a case.

        Raises:
            RunRefused: as `seats_left_out`.
        """
        seats_left_out(self._panel, case)
        for place in own_family(self._panel, case):
            key = _named(place), _agent(case)
            self._cases[key] += 1
            if len(self._first[key]) < _NAMED:
                self._first[key].append(case.case_id)

    def lines(self) -> list[str]:
        """A line a seat and agent."""
        what = "is not seated there" if self._panel.own_family == "leave-out" else "judges tend to favour their own"
        return [
            f"{seat} is of the family of the judged agent, {agent}, in {pluralize(count, 'case')} "
            f"({', '.join(visible_line(one, 60) for one in self._first[seat, agent])}"
            f"{', …' if count > _NAMED else ''}): "
            f"{'judges tend to favour their own' if seat.startswith('the final judge') else what}"
            for (seat, agent), count in self._cases.items()
        ]


def _named(place: Seat | FinalJudge) -> str:
    name = place.juror_id if isinstance(place, Seat) else "the final judge"
    return f"{name} ({place.model})"


def _agent(case: Case) -> str:
    return visible_line(str(case.metadata[AGENT_MODEL]), 60)
