"""Which cases are longer than the windows of which seats, before the first call."""

from typing import Any

from jury_debate.panel_spec import ResolvedPanel
from jury_debate.reading.token_estimate import bytes_of, estimated_tokens
from jury_events.case import Case
from jury_events.panel import FinalJudge, Seat
from jury_events.text.pluralize import pluralize
from jury_events.text.visible_text import visible_line
from jury_judge.runs.prompt_sizes import prompt_sizes
from jury_providers.endpoints import Endpoints
from jury_providers.registry import NO_ENDPOINTS
from jury_providers.windows import known_window

_NAMED = 3
"""Cases that a line names."""

_KEPT_IDS = 20
"""Ids of cases that are kept of each seat."""

_MOST_GROWTH = 8
_INSTRUCTIONS = 64_000
"""A prompt has at most so many bytes for each byte of its case, and so many beside it, about: marks, headings, and the
seat's instructions. Prompts of cases that fit by this are not rendered.
"""


class SeatFit:
    """One seat, or the final judge (`juror_id` None), and the cases that are too long for its model.

    Attributes:
        juror_id: of the seat.
        model: the first that is asked.
        window: of the model, the tokens of the request and the answer together.
        too_long: how many cases are.
        first_ids: of these cases, the first.
    """

    def __init__(self, place: Seat | FinalJudge, window: int) -> None:
        self.juror_id = place.juror_id if isinstance(place, Seat) else None
        self.model = place.model
        self.window = window
        self._answer = place.settings.max_output_tokens
        self.too_long = 0
        self.first_ids: list[str] = []

    @property
    def name(self) -> str:
        """Of the seat, in a sentence."""
        return "the final judge" if self.juror_id is None else self.juror_id

    @property
    def most(self) -> int:
        """The tokens that a request may have beside the longest answer that is asked for."""
        return max(0, self.window - self._answer)

    def add(self, case_id: str, tokens: int) -> None:
        """Compare the tokens of a request over a case."""
        if tokens > self.most:
            self.too_long += 1
            if len(self.first_ids) < _KEPT_IDS:
                self.first_ids.append(case_id)


class CaseFit:
    """Compares cases with the windows of a panel's models: a request that is longer fails with `context_too_long`.

    Tokens are estimated (`token_estimate`), of the first request of a seat, and of the final judge's without the
    evaluations. Models of which no window is known are left out.

    Args:
        resolved: the panel.
        endpoints: from the panel file.
        operator_policy: of the whole run.
    """

    def __init__(
        self, resolved: ResolvedPanel, endpoints: Endpoints = NO_ENDPOINTS, operator_policy: str | None = None
    ) -> None:
        self._resolved = resolved
        self._policy = operator_policy
        places = ((place, known_window(place.model, endpoints)) for place in resolved.panel.seats_and_judge)
        self.seats = tuple(SeatFit(place, window) for place, window in places if window is not None)
        self.unknown = tuple(
            dict.fromkeys(
                place.model for place in resolved.panel.seats_and_judge if known_window(place.model, endpoints) is None
            )
        )
        """The models of which no window is known."""
        self.cases = 0

    def add(self, case: Case) -> None:
        """Compare a case; without its records where they are not fetched."""
        self.cases += 1
        if not self.seats or self._fits_anyway(case):
            return
        sizes = prompt_sizes(case, self._resolved, self._policy)
        blind = {place.juror_id if isinstance(place, Seat) else None: not place.images for place in self._places}
        for seat in self.seats:
            pictures = 0 if blind[seat.juror_id] else sizes.pictures
            seat.add(case.case_id, estimated_tokens(sizes.prompts[seat.juror_id] + sizes.form, pictures))

    def line(self) -> str | None:
        """A one-line warning; None where every case fits."""
        found = [seat for seat in self.seats if seat.too_long]
        if not found:
            return None
        of = f"of {pluralize(self.cases, 'case')}"
        counted = [f"{seat.too_long:,} for {seat.name} ({seat.window:,} tokens: {_named(seat)})" for seat in found]
        return (
            f"longer than the window of a model, whose calls would fail (context_too_long), {of}: {', '.join(counted)}"
        )

    def data(self) -> dict[str, Any]:
        """The counts as JSON data."""
        return {
            "seats": [
                {
                    "juror_id": seat.juror_id,
                    "model": seat.model,
                    "window": seat.window,
                    "too_long": seat.too_long,
                    "too_long_cases": seat.first_ids,
                }
                for seat in self.seats
            ],
            "windows_not_known": list(self.unknown),
        }

    @property
    def _places(self) -> tuple[Seat | FinalJudge, ...]:
        return self._resolved.panel.seats_and_judge

    def _fits_anyway(self, case: Case) -> bool:
        most = bytes_of(min(seat.most for seat in self.seats))
        beside = _INSTRUCTIONS + len((self._policy or "").encode()) + bytes_of(estimated_tokens(0, len(case.images)))
        return len(case.model_dump_json().encode()) * _MOST_GROWTH + beside <= most


def _named(seat: SeatFit) -> str:
    named = [visible_line(case_id, 60) for case_id in seat.first_ids[:_NAMED]]
    return ", ".join(named) + (" …" if seat.too_long > len(named) else "")
