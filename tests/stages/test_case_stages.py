"""What is next of each case of a run follows from the log alone, however often the run was interrupted."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jury_events import first_stage_of
from jury_judge import Ladder, open_stages

FIRSTS = ["r~a", "r~b", "r~b~2"]
ENDS = ("accepted", "escalated", "failed", "cancelled")
_PART = SimpleNamespace(content=b"secret")


@dataclass
class Log:
    """The rows of debates that are over, and the secret of each."""

    rows: dict[str, Any] = field(default_factory=dict)

    def debates_named(self, debates: list[str]) -> dict[str, Any]:
        return {one: self.rows[one] for one in debates if one in self.rows}

    def event_histories(self, debates: list[str]) -> list[Any]:
        return [SimpleNamespace(opened=SimpleNamespace(secret=SimpleNamespace(digest=one))) for one in debates]

    def parts(self, _debate: str, digests: list[str]) -> dict[str, Any]:
        return dict.fromkeys(digests, _PART)

    def end(self, debate: str, place: Any, end: str) -> None:
        last = place is None or place.number == place.of
        aside = "audit" if place is not None and place.audit else None
        if aside is None and not last and end in {"escalated", "failed"}:
            aside = "escalated"
        status = end if end in {"failed", "cancelled"} else "completed"
        self.rows[debate] = SimpleNamespace(
            debate_id=debate,
            stage=None if place is None else place.number,
            status=status,
            aside=aside,
            has_ended=True,
            case_part=b"case",
        )


def _way(ends: list[str], of: int, *, audit: bool) -> list[tuple[int, bool]]:
    """The stages that a case goes through, and whether each is an audit."""
    way = []
    for number in range(1, of + 1):
        way.append((number, False))
        end = ends[number - 1]
        if number < of and end in {"escalated", "failed"}:
            continue
        if number < of and end == "accepted" and audit:
            way.append((of, True))
        break
    return way


@given(st.data(), st.integers(1, 4), st.booleans())
def test_each_case_goes_on_as_its_debates_ended_however_it_is_interrupted(
    data: st.DataObject, of: int, audit: bool
) -> None:
    log, went = Log(), {first: list[tuple[int, bool]]() for first in FIRSTS}
    panels: Any = tuple(range(of))
    ladder = None if of == 1 else Ladder("1e" * 32, panels, float(audit), "3c" * 32)
    ends = {first: data.draw(st.lists(st.sampled_from(ENDS), min_size=of, max_size=of)) for first in FIRSTS}
    store: Any = log
    while left := open_stages(store, FIRSTS, ladder):
        for first in data.draw(st.lists(st.sampled_from(sorted(left)), min_size=1, unique=True)):
            one = left[first]
            number, audits = (1, False) if one.place is None else (one.place.number, one.place.audit)
            assert (first, None) == (first_stage_of(one.debate_id), one.row)
            went[first].append((number, audits))
            log.end(one.debate_id, one.place, ends[first][number - 1] if not audits else "accepted")

    assert {first: _way(ends[first], of, audit=audit) for first in FIRSTS} == went
    assert len(log.rows) == sum(map(len, went.values()))
