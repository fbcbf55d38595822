"""Jurors' opinions as arguments of the documents' classes."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, is_dataclass
from numbers import Real
from typing import Any

from jury_events.errors import SettingError
from jury_events.text import visible_line
from jury_events.verdict import Verdict
from jury_judge.documents.supplied_answers import SuppliedAnswer
from jury_views.evaluation_models import DIMENSIONS

Opinions = Mapping[str, Any] | Iterable[Any]
"""Evaluations, or mappings of their fields: by juror id, or in a list where each has its `juror_id`."""

_MAXIMA = dict(zip(DIMENSIONS, (40.0, 30.0, 20.0, 10.0), strict=True))


def read_opinions(opinions: Opinions, name: str) -> dict[str, SuppliedAnswer]:
    """The opinions by juror id, in their order.

    Raises:
        SettingError: an opinion is not valid; the message names it, and what it must contain.
    """
    if not isinstance(opinions, Iterable):
        raise SettingError(f"{name}: give the opinions by juror id, or in a list, not a {type(opinions).__name__}")
    if isinstance(opinions, Mapping):
        pairs = list(opinions.items())
    else:
        pairs = [(_fields(one, f"{name}.{index}").get("juror_id"), one) for index, one in enumerate(opinions)]
    found: dict[str, SuppliedAnswer] = {}
    for juror_id, one in pairs:
        if not isinstance(juror_id, str) or not juror_id:
            raise SettingError(f"{name}: an opinion names no juror; give each a juror_id")
        place = f"{name}: the opinion of {visible_line(juror_id, 80)}"
        if juror_id in found:
            raise SettingError(f"{place} is given twice")
        found[juror_id] = read_opinion(one, place)
    return found


def verdict_of(opinion: Any, place: str) -> Verdict:
    """The verdict of an opinion.

    Raises:
        SettingError: it has no verdict, or an unknown one.
    """
    value = _fields(opinion, place).get("verdict")
    try:
        return Verdict(str(value))
    except ValueError:
        raise SettingError(
            f"{place} has the verdict {visible_line(repr(value), 80)}; it may be {', '.join(Verdict)}"
        ) from None


def read_opinion(opinion: Any, place: str) -> SuppliedAnswer:
    """One opinion: `verdict`, points of the dimensions or `overall_score` (0-100), `confidence`, `rationale`.

    Raises:
        SettingError: a field is missing, or out of its range.
    """
    fields = _fields(opinion, place)
    verdict = verdict_of(fields, place)
    points = {
        name: _number(fields[name], name, most, place) for name, most in _MAXIMA.items() if fields.get(name) is not None
    }
    overall = fields.get("overall_score")
    if overall is None and len(points) < len(_MAXIMA):
        raise SettingError(f"{place} has no score; give its overall_score, or the points of {', '.join(_MAXIMA)}")
    confidence = fields.get("confidence")
    text = fields.get("statement") or fields.get("rationale") or fields.get("reasoning")
    return SuppliedAnswer(
        verdict=verdict.value,
        overall=sum(points.values()) if overall is None else _number(overall, "overall_score", 100.0, place),
        confidence=0.5 if confidence is None else _number(confidence, "confidence", 1.0, place),
        rationale=_text(text, place) if text else verdict.value,
        points=points,
    )


def _fields(opinion: Any, place: str) -> Mapping[str, Any]:
    if is_dataclass(opinion) and not isinstance(opinion, type):
        return asdict(opinion)
    if not isinstance(opinion, Mapping):
        raise SettingError(f"{place} must be an evaluation or a mapping of its fields, not {type(opinion).__name__}")
    return opinion


def _text(value: Any, place: str) -> str:
    text = str(value)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise SettingError(
            f"{place}: its text contains half a character at index {error.start}; leave it out"
        ) from None
    return text


def _number(value: Any, name: str, most: float, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= most:
        raise SettingError(f"{place}: {name} must be a number from 0 to {most:g}, not {visible_line(repr(value), 40)}")
    return float(value)
