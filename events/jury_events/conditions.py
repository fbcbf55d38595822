"""Conditions on the fields that describe a case: the same for case files and for recorded debates.

`FIELD OP VALUE`, for example `tags~refund`, `metadata.level=3`, `label!~unsafe`. A field has any number of values:
`tags` has one a tag, every other field one or none. Numbers and booleans are written as in JSON (`3`, `0.5`, `true`).

| OP | matches when |
| --- | --- |
| `=` | some value is VALUE |
| `!=` | no value is VALUE |
| `~` | some value contains VALUE; the case of ASCII letters is ignored |
| `!~` | no value contains VALUE |

So `cluster~`, with an empty VALUE, matches everything with a cluster, and `cluster!~` everything without one.

Lists of recorded debates have the fields of `EVIDENCE_VALUES` too, whose values are known: `evidence=not_found`. A
debate that was not asked for evidence has no value of them. `final_label` is the label of the verdict under a scale of
the panel's own.
"""

import json
import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Literal, NamedTuple, Protocol, get_args

from pydantic import TypeAdapter, ValidationError

from jury_events.case import MetadataValue
from jury_events.errors import BadCondition
from jury_events.evaluation import EVIDENCE_VALUES
from jury_events.nearest import nearest
from jury_events.value import CaseId, Label
from jury_events.verdict import Verdict

Operator = Literal["=", "!=", "~", "!~"]
Values = Mapping[str, tuple[str, ...]]
"""Values by field; a field without any may be left out."""

METADATA = "metadata."
"""The prefix of metadata fields; the rest is the name, which may contain dots."""

_PLAIN = ("tags", "cluster", "label", "case_id")
FIELDS = (*_PLAIN, f"{METADATA}NAME")

FINAL_LABEL = "final_label"
_RECORDED = (FINAL_LABEL, *EVIDENCE_VALUES)
"""Fields of recorded debates alone."""

# The first operator ends the field: a name that contains an operator cannot be queried.
_CONDITION = re.compile(r"(?P<field>.*?)(?P<operator>!=|!~|=|~)(?P<value>.*)", re.DOTALL)
_SHOWN = 100
_NAME: TypeAdapter[str] = TypeAdapter(Label)
_VALUE: TypeAdapter[str] = TypeAdapter(CaseId)
"""A case's id may be longer than any other value."""


class Condition(NamedTuple):
    """One condition, as `parse_condition` returns it; `str` returns the text."""

    field: str
    operator: Operator
    value: str

    def admits(self, values: Values) -> bool:
        """Whether something with these values matches."""
        found = values.get(self.field, ())
        match self.operator:
            case "=":
                return self.value in found
            case "!=":
                return self.value not in found
            case "~":
                return any(contains(one, self.value) for one in found)
            case "!~":
                return not any(contains(one, self.value) for one in found)

    @property
    def negative(self) -> bool:
        """Whether something without any value matches."""
        return self.operator.startswith("!")

    def __str__(self) -> str:
        return f"{self.field}{self.operator}{self.value}"


def parse_condition(text: str, *, recorded: bool = False) -> Condition:
    """Parse a condition; spaces around field and value are ignored.

    Args:
        recorded: whether it chooses among recorded debates, by their label and evidence too.
    """
    found = _CONDITION.fullmatch(text)
    if found is None:
        raise BadCondition(
            f"{_quoted(text)} is not a condition: it has no operator; write FIELD OP VALUE with one of "
            f"{', '.join(get_args(Operator))}, for example tags~refund"
        )
    field = parse_field(found["field"], recorded=recorded)
    operator, value = _operator(found["operator"]), found["value"].strip()
    if not value and operator in {"=", "!="}:
        raise BadCondition(
            f"{_quoted(text)} names no value; write {field}{operator}VALUE, or {field}~ for any value and {field}!~ "
            "for none"
        )
    known = EVIDENCE_VALUES.get(field)
    if known is not None and operator in {"=", "!="} and value not in known:
        raise BadCondition(f"{_quoted(text)}: {field} is one of {', '.join(known)}")
    try:
        if value:
            _VALUE.validate_python(value)
    except ValidationError as error:
        message = error.errors(include_url=False, include_input=False)[0]["msg"].removeprefix("Value error, ")
        raise BadCondition(f"the value of {_quoted(text)}: {message}; no field has such a value") from None
    return Condition(field, operator, value)


def parse_conditions(texts: Iterable[str], *, recorded: bool = False) -> tuple[Condition, ...]:
    """Parse several conditions as `parse_condition`, all of which must match; duplicates are dropped."""
    return tuple(dict.fromkeys(map(partial(parse_condition, recorded=recorded), texts)))


def parse_field(text: str, *, recorded: bool = False) -> str:
    """Parse a field; spaces around it are ignored. `recorded` as in `parse_condition`."""
    field = text.strip()
    if field in _RECORDED and not recorded:
        raise BadCondition(
            f"{field} is a field of recorded debates, by which lists of debates choose (jury list); here, fields are "
            f"{', '.join(FIELDS)}"
        )
    fields = (*_PLAIN, *_RECORDED) if recorded else _PLAIN
    head, dot, name = field.partition(".")
    if field in fields or (f"{head}{dot}" == METADATA and _is_label(name)):
        return field
    near = nearest(head, [*fields, "metadata"], 0.7)
    if near is None or near == "metadata":
        # Without a similar field, a missing `metadata.` prefix is the likeliest mistake.
        name = name or ("" if near else head)
        near = f"{METADATA}{name if _is_label(name) else 'NAME'}"
    raise BadCondition(
        f"there is no field {_quoted(field)} (did you mean {_shortened(near)}?); fields are "
        f"{', '.join((*FIELDS, *_RECORDED) if recorded else FIELDS)}"
    )


class CaseFields(Protocol):
    """An object with the fields of a case: a `Case`, its `DebateOpened`, its debate's row."""

    @property
    def case_id(self) -> str: ...
    @property
    def label(self) -> Verdict | str | None: ...
    @property
    def cluster(self) -> str | None: ...
    @property
    def tags(self) -> tuple[str, ...]: ...
    @property
    def metadata(self) -> Mapping[str, MetadataValue]: ...


def fields_of(described: CaseFields) -> Values:
    """The values of all fields that have any."""
    return field_values(
        case_id=described.case_id,
        label=described.label,
        cluster=described.cluster,
        tags=described.tags,
        metadata=described.metadata,
    )


def field_values(
    *,
    case_id: str,
    label: str | None,
    cluster: str | None,
    tags: Iterable[str],
    metadata: Mapping[str, MetadataValue],
) -> Values:
    """As `fields_of`, from the values themselves."""
    found: dict[str, tuple[str, ...]] = {
        "tags": tuple(dict.fromkeys(tags)),
        "cluster": () if cluster is None else (cluster,),
        "label": () if label is None else (str(label),),
        "case_id": (case_id,),
    }
    found |= {f"{METADATA}{name}": (_written(value),) for name, value in metadata.items()}
    return {field: values for field, values in found.items() if values}


def admitted(conditions: Iterable[Condition], values: Values) -> bool:
    """Whether all conditions match."""
    return all(condition.admits(values) for condition in conditions)


def contains(text: str, sought: str) -> bool:
    """Whether `sought` is in `text`, as both databases compare: no locale, case-insensitive for ASCII letters only."""
    return _lower(sought) in _lower(text)


def _lower(text: str) -> str:
    return text.encode().lower().decode()


def _written(value: MetadataValue) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _operator(text: str) -> Operator:
    return next(one for one in get_args(Operator) if one == text)


def _is_label(name: str) -> bool:
    try:
        _NAME.validate_python(name)
    except ValidationError:
        return False
    return True


def _quoted(text: str) -> str:
    return repr(_shortened(text))


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
