"""Which cases are longer than the windows of which seats, and how they would be read, before the first call."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from jury_debate.panel_spec import ResolvedPanel
from jury_debate.reading.token_estimate import bytes_of, estimated_tokens, request_tokens
from jury_events.case import Case
from jury_events.panel import FinalJudge, Seat
from jury_events.text import pluralize, visible_line
from jury_judge.runs.prompt_sizes import PromptSizes, prompt_sizes
from jury_providers.endpoints import Endpoints
from jury_providers.model_limits import known_window
from jury_providers.registry import NO_ENDPOINTS

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
    """One seat, or the final judge (`juror_id` None), and how it would read the cases.

    Attributes:
        juror_id: of the seat.
        model: the first that is asked.
        window: in tokens, of the request and the answer together; None: not known.
        too_long: how many cases are longer than the window, and would be sent whole.
        first_ids: of these cases, the first.
        parts: in how many parts cases are read that are not read whole, and how many cases that are.
        outlined: how many cases it is shown an outline of: it reads them by tools, or what others cite of them.
    """

    def __init__(self, place: Seat | FinalJudge, window: int | None) -> None:
        self.juror_id = place.juror_id if isinstance(place, Seat) else None
        self.model = place.model
        self.window = window
        self.sees_pictures = place.images
        self._answer = place.settings.max_output_tokens
        self.too_long = 0
        self.first_ids: list[str] = []
        self.parts: Counter[int] = Counter()
        self.outlined = 0

    @property
    def name(self) -> str:
        """Of the seat, in a sentence."""
        return "the final judge" if self.juror_id is None else self.juror_id

    @property
    def not_whole(self) -> int:
        """How many cases it does not read whole."""
        return self.parts.total() + self.outlined

    @property
    def most(self) -> int | None:
        """The tokens that a request may have: what the answer leaves, or what a request may take; None: not known."""
        return None if self.window is None else max(self.window - self._answer, request_tokens(self.window))

    def add(self, case_id: str, sizes: PromptSizes) -> None:
        """Count a case."""
        reading = sizes.reading.get(self.juror_id)
        if reading is not None:
            self.parts.update([len(reading.parts)] if reading.mode == "windows" else [])
            self.outlined += reading.mode != "windows"
            return
        pictures = sizes.pictures if self.sees_pictures else 0
        tokens = estimated_tokens(sizes.prompts[self.juror_id] + sizes.form, pictures)
        if self.most is not None and tokens > self.most:
            self.too_long += 1
            if len(self.first_ids) < _KEPT_IDS:
                self.first_ids.append(case_id)


class CaseFit:
    """Compares cases with the windows of a panel's models, as debates of them would open.

    A request that is longer fails with `context_too_long`. Tokens are estimated (`token_estimate`), of the first
    request of a seat, and of the final judge's without the evaluations.
    """

    def __init__(
        self, resolved: ResolvedPanel, endpoints: Endpoints = NO_ENDPOINTS, operator_policy: str | None = None
    ) -> None:
        panel = resolved.panel
        self._resolved = resolved
        self._policy = operator_policy
        self.seats = tuple(
            SeatFit(place, place.window or known_window(place.model, endpoints)) for place in panel.seats_and_judge
        )
        self._always_opened = any((seat.reading or panel.reading) in {"windows", "tools"} for seat in panel.seats)
        self.cases = 0

    def add(self, case: Case) -> None:
        """Compare a case; without its records where they are not fetched."""
        self.cases += 1
        if self._is_short(case):
            return
        sizes = prompt_sizes(case, self._resolved, self._policy)
        for seat in self.seats:
            seat.add(case.case_id, sizes)

    @property
    def too_long(self) -> str | None:
        """A line with the cases that are too long for seats; None where there are none."""
        long = [seat for seat in self.seats if seat.too_long]
        if not long:
            return None
        counted = [f"{seat.too_long:,} for {seat.name} ({seat.window:,} tokens: {_named(seat)})" for seat in long]
        what = "longer than the window of a model, whose calls would fail (context_too_long)"
        return f"{what}, {self._of}: {', '.join(counted)}"

    @property
    def not_whole(self) -> str | None:
        """A line with the cases that seats do not read whole; None where there are none."""
        found = [_read(seat) for seat in self.seats if seat.not_whole]
        return f"not read whole, {self._of}: {', '.join(found)}" if found else None

    def lines(self) -> Iterator[str]:
        """The lines that there are."""
        yield from (line for line in (self.too_long, self.not_whole) if line is not None)

    @property
    def _of(self) -> str:
        return f"of {pluralize(self.cases, 'case')}"

    def data(self) -> dict[str, Any]:
        """The counts as JSON data."""
        return {
            "seats": [
                {
                    "juror_id": seat.juror_id,
                    "model": seat.model,
                    "window": seat.window,
                    "whole": self.cases - seat.not_whole - seat.too_long,
                    "in_parts": seat.parts.total(),
                    "fewest_parts": min(seat.parts, default=None),
                    "most_parts": max(seat.parts, default=None),
                    "outlined": seat.outlined,
                    "too_long": seat.too_long,
                    "too_long_cases": seat.first_ids,
                }
                for seat in self.seats
            ]
        }

    def _is_short(self, case: Case) -> bool:
        """Whether it fits every window by far, so that its prompts need not be rendered."""
        if self._always_opened:
            return False
        windows = [seat.window for seat in self.seats if seat.window is not None]
        if not windows:
            return True
        beside = _INSTRUCTIONS + len((self._policy or "").encode()) + bytes_of(estimated_tokens(0, len(case.images)))
        return len(case.model_dump_json().encode()) * _MOST_GROWTH + beside <= bytes_of(request_tokens(min(windows)))


def _read(seat: SeatFit) -> str:
    """How a seat reads what it does not read whole."""
    said = []
    if seat.parts:
        fewest, most = min(seat.parts), max(seat.parts)
        parts = pluralize(most, "part") if fewest == most else f"{fewest:,} to {most:,} parts"
        said.append(f"{seat.parts.total():,} in {parts}")
    if seat.outlined:
        said.append(f"{seat.outlined:,} from an outline")
    return f"{' and '.join(said)} by {seat.name}"


def _named(seat: SeatFit) -> str:
    named = [visible_line(case_id, 60) for case_id in seat.first_ids[:_NAMED]]
    return ", ".join(named) + (" …" if seat.too_long > len(named) else "")
