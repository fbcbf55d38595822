"""Grids of settings for a rescoring as users write them: `KEY=VALUE[,VALUE...]`, and YAML files."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

from pydantic import ValidationError

from jury_debate.presets import MAY_BE, checked_threshold, threshold_hint
from jury_events.calibration import Calibration
from jury_events.errors import SettingError
from jury_events.nearest import did_you_mean
from jury_events.panel import Bands, History, Order
from jury_events.reading import ReadingRule
from jury_events.rubric import RUBRICS, Dimension, Rubric
from jury_events.text import visible_line
from jury_events.verdict_scale import VERDICTS
from jury_judge.panels.calibration_files import read_calibration
from jury_judge.panels.document import InvalidYaml, YamlDocument, read_text, read_yaml
from jury_judge.panels.variables import METHODS
from jury_replay.rescoring.settings import (
    CUSTOM,
    CriterionBound,
    CriterionCap,
    Grid,
    LabelOutcome,
    SeatWeight,
    Setting,
)

GRID_KEYS = tuple(Setting.model_fields)
"""The settings that debates can be rescored under."""

_NUMBER = r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+"
_NAMED_NUMBER = re.compile(rf"(.+?):({_NUMBER})(?:/|$)")
"""`gpt:2/claude:1`; a name may include slashes and colons, if no number follows."""

_A_GRID = "a table such as threshold: [0.67, 1.0], or a list of such tables"
_YES_NO = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}


def load_grid(sets: Sequence[str], path: str | None) -> Grid:
    """The settings of `--set` and of a grid file; of both, every combination.

    Args:
        sets: `KEY=VALUE[,VALUE...]`, a key at most once.
        path: YAML: a table `KEY: value` or `KEY: [values]`, or a list of such tables, one grid after another.
    """
    if not sets and path is None:
        raise SettingError(
            f"no setting is given: write --set KEY=VALUE or --grid FILE; keys are {', '.join(GRID_KEYS)}"
        )
    given = _sets(sets)
    grids = []
    for table in [{}] if path is None else _tables(path):
        for key in given:
            if key in table:
                raise SettingError(f"{key}: stands in --set and in {visible_line(str(path), 1000)}; keep one of them")
        grids.append(Grid.of({**table, **given}))
    return Grid.together(tuple(grids))


def grid_of(table: Mapping[str, Any]) -> Grid:
    """The settings of a table `KEY: value` or `KEY: [values]`, every combination; values as in a grid file."""
    if not table:
        raise SettingError(f"no setting is given; keys are {', '.join(GRID_KEYS)}")
    return Grid.of({(key := _key(written)): _values(key, values) for written, values in table.items()})


def _sets(sets: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    found: dict[str, tuple[Any, ...]] = {}
    for one in sets:
        name, equals, values = one.partition("=")
        if not equals:
            raise SettingError(f"--set {visible_line(repr(one), 80)} is not KEY=VALUE; keys are {', '.join(GRID_KEYS)}")
        key = _key(name.strip())
        if key in found:
            raise SettingError(f"--set {key}: is given twice; write its values in one, as {key}=A,B")
        found[key] = tuple(_value(key, value.strip()) for value in values.split(","))
    return found


def _tables(path: str) -> list[dict[str, tuple[Any, ...]]]:
    name = visible_line(path, 1000)
    text = read_text(Path(path), name, lambda: f"{name}: there is no such grid file")
    try:
        document = read_yaml(text)
    except InvalidYaml as error:
        place = f"{name}:{error.line}" if error.line else name
        raise SettingError(f"{place}: {error}; a grid is {_A_GRID}") from error
    tables = document.data if isinstance(document.data, list) else [document.data]
    if not tables or not all(isinstance(table, dict) and table for table in tables):
        raise SettingError(f"{name}: must be {_A_GRID}")
    listed = isinstance(document.data, list)
    return [
        {
            key: choices
            for written, values in table.items()
            for key, choices in [_choices(name, document, [index, written] if listed else [written], values)]
        }
        for index, table in enumerate(tables)
    ]


def _choices(name: str, document: YamlDocument, place: list[Any], values: Any) -> tuple[str, tuple[Any, ...]]:
    try:
        key = _key(place[-1])
        return key, _values(key, values)
    except SettingError as error:
        line = document.line(place)
        raise SettingError(f"{name}:{line}: {error}" if line else f"{name}: {error}") from error


def _key(key: Any) -> str:
    if key not in GRID_KEYS:
        raise SettingError(
            f"there is no setting {visible_line(repr(key), 80)}{did_you_mean(key, GRID_KEYS)}; "
            f"keys are {', '.join(GRID_KEYS)}"
        )
    return str(key)


def _values(key: str, given: Any) -> tuple[Any, ...]:
    """One value, or each of a list."""
    values = given if isinstance(given, list | tuple) else [given]
    if not values:
        raise SettingError(f"{key}: no value is given; it may be {_FORMS[key].may_be}")
    return tuple(_value(key, value) for value in values)


def _value(key: str, raw: Any) -> Any:
    """One value: text as in `--set`, or what YAML makes of it."""
    form = _FORMS[key]
    text = _YAML_BOOL[raw] if isinstance(raw, bool) else str(raw) if isinstance(raw, int | float) else raw
    try:
        value = form.read(text)
        Setting.model_validate({key: value})
    except (ValueError, TypeError, ArithmeticError) as error:
        detail = f" ({_said(error)})" if isinstance(error, ValidationError) and key in _WITH_DETAIL else ""
        shown = visible_line(repr(raw), 80)
        raise SettingError(
            f"{key}: {shown} is not understood{detail}{form.hint(text)}; it may be {form.may_be}"
        ) from error
    return value


_YAML_BOOL = {True: "on", False: "off"}
_WITH_DETAIL = ("bands", "rubric", "weights", "without")


def _said(error: ValidationError) -> str:
    return str(error.errors(include_url=False, include_input=False)[0]["msg"]).removeprefix("Value error, ")


class _Form(NamedTuple):
    """The parser of a key's values (ValueError or TypeError for invalid ones), and the allowed values in words."""

    read: Callable[[Any], Any]
    may_be: str
    hint: Callable[[Any], str] = lambda _text: ""


def _words(*words: str) -> _Form:
    """One of these words; which of them is said by `Setting`."""
    *most, last = words
    return _Form(_word, f"{', '.join(most)} or {last}" if most else last, lambda text: did_you_mean(text, words))


def _threshold(raw: Any) -> float:
    return checked_threshold(_number(raw))


def _threshold_hint(raw: Any) -> str:
    try:
        return threshold_hint(_number(raw))
    except ValueError:
        return ""


def _number(raw: Any) -> float:
    if not isinstance(raw, str) or not re.fullmatch(_NUMBER, raw):
        raise ValueError(raw)
    return float(raw)


def _whole(raw: Any) -> int:
    if not isinstance(raw, str) or not re.fullmatch(r"[0-9]{1,9}", raw):
        raise ValueError(raw)
    return int(raw)


def _stagnation(raw: Any) -> int:
    if raw in {"off", "no", "false"}:
        return 0
    if not _whole(raw):
        raise ValueError(raw)
    return int(raw)


def _switch(raw: Any) -> bool:
    if not isinstance(raw, str) or raw.lower() not in _YES_NO:
        raise ValueError(raw)
    return _YES_NO[raw.lower()]


def _word(raw: Any) -> str:
    if not isinstance(raw, str):
        raise TypeError(raw)
    return raw


def _words_table(raw: Any) -> Mapping[str, str]:
    """`a:b/c:d`, or a table."""
    if isinstance(raw, dict):
        return {_word(str(name)): _word("off" if value is False else value) for name, value in raw.items()}
    pairs = [pair.split(":") for pair in _word(raw).split("/")]
    found = {pair[0]: pair[1] for pair in pairs if len(pair) == 2 and all(pair)}  # noqa: PLR2004  (a name and a word)
    if len(found) < len(pairs):
        raise ValueError(raw)
    return found


def _outcomes(raw: Any) -> tuple[LabelOutcome, ...]:
    return tuple(LabelOutcome.model_validate({"label": a, "outcome": b}) for a, b in _words_table(raw).items())


def _critical(raw: Any) -> tuple[CriterionCap, ...]:
    return tuple(CriterionCap.model_validate({"criterion": a, "cap": b}) for a, b in _words_table(raw).items())


def _critical_below(raw: Any) -> tuple[CriterionBound, ...]:
    return tuple(CriterionBound(criterion=name, share=share) for name, share in _table(raw).items())


def _table(raw: Any) -> Mapping[str, float]:
    """`a:1/b:2`, or a table."""
    if isinstance(raw, dict):
        return {_word(name): float(_plain_number(value)) for name, value in raw.items()}
    text, found, at = _word(raw), {}, 0
    while at < len(text):
        pair = _NAMED_NUMBER.match(text, at)
        if pair is None or pair[1] in found:
            raise ValueError(raw)
        found[pair[1]] = float(pair[2])
        at = pair.end()
    if not found or text.endswith("/"):
        raise ValueError(raw)
    return found


def _plain_number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(value)
    return value


def _bands(raw: Any) -> Bands:
    if isinstance(raw, dict):
        return Bands.model_validate({name: float(_plain_number(value)) for name, value in raw.items()})
    edges = map(_number, _word(raw).split("/"))
    return Bands(**dict(zip(Bands.model_fields, edges, strict=True)))


def _weights(raw: Any) -> tuple[SeatWeight, ...]:
    return tuple(SeatWeight(juror_id=juror_id, weight=weight) for juror_id, weight in _table(raw).items())


def _rubric(raw: Any) -> Rubric:
    if isinstance(raw, str) and raw in RUBRICS:
        return RUBRICS[raw]
    dimensions = tuple(Dimension(name=name, maximum=maximum) for name, maximum in _table(raw).items())
    return Rubric(name=CUSTOM, dimensions=dimensions)


def _without(raw: Any) -> tuple[str, ...]:
    return tuple(map(_word, raw)) if isinstance(raw, list) else tuple(_word(raw).split("+"))


def _calibration(raw: Any) -> Calibration | str:
    if raw in {"off", "no", "false"}:
        return "off"
    if not (name := _word(raw)):
        raise ValueError
    return read_calibration(Path(name)).calibration


_SWITCH = _Form(_switch, "on or off")
_FORMS: Mapping[str, _Form] = {
    "threshold": _Form(_threshold, f"a number {MAY_BE}", _threshold_hint),
    "max_rounds": _Form(_whole, "a whole number from 0 to 100"),
    "always_discuss": _SWITCH,
    "unanimity_ends": _SWITCH,
    "end_early": _SWITCH,
    "stagnation_rounds": _Form(_stagnation, "a whole number from 1 to 100, or off"),
    "order": _words(*get_args(Order)),
    "history": _words(*get_args(History)),
    "method": _words(*METHODS),
    "bands": _Form(_bands, f"{'/'.join(Bands.model_fields).upper()}, the lowest score of each, as 80/50"),
    "quorum": _Form(_whole, "a whole number from 1 to 500"),
    "weights": _Form(_weights, "SEAT:WEIGHT/SEAT:WEIGHT with weights above 0, as gpt:2/claude:1"),
    "rubric": _Form(
        _rubric,
        f"{', '.join(RUBRICS)}, or maxima that add up to 100, as task_completion:50/safety:50",
        lambda text: did_you_mean(text, RUBRICS),
    ),
    "without": _Form(_without, "SEAT or SEAT+SEAT"),
    "synthetic": _words("count", "leave_out"),
    "unsupported": _words("count", "halve", "abstain"),
    "calibration": _Form(_calibration, "a file that jury calibrate wrote, or off"),
    "outcomes": _Form(_outcomes, f"LABEL:OUTCOME/LABEL:OUTCOME with {', '.join(VERDICTS)}, as partial:pass"),
    "critical": _Form(_critical, "CRITERION:CAP/CRITERION:CAP with review, fail or off, as facts:fail"),
    "critical_below": _Form(_critical_below, "CRITERION:SHARE with shares above 0 and at most 1, as facts:0.6"),
    "reading": _words(*get_args(ReadingRule)),
    "least_read": _Form(_number, "a share from 0 to 1, as 0.5"),
    "reasoning": _words("hide"),
}
