"""Cases as JSON objects of a request."""

from collections.abc import Mapping, Sequence
from typing import Any

from jury_cases.case_inputs import case_of
from jury_cases.columns import with_snake_case_names
from jury_cases.errors import CaseFileError
from jury_cases.formats.registry import asked_format
from jury_events.case import Case
from jury_events.text import visible_line
from jury_events.verdict_scale import VerdictScale

_SHOWN = 120
"""Characters of a case id that a message quotes."""


def submitted_cases(
    tables: Sequence[Mapping[str, Any]],
    places: Sequence[str],
    scale: VerdictScale | None = None,
    form: str | Mapping[str, Any] | None = None,
) -> list[Case]:
    """The cases of JSON objects, each as in a case file; without a format names may be in camelCase.

    Args:
        scale: of the panel that judges: labels are read in its words.
        form: the name of their format, or the content of a format file. No file is read.
    """
    read = asked_format(form, files=False)
    cases = []
    seen: set[str] = set()
    for number, (table, place) in enumerate(zip(tables, places, strict=True), start=1):
        try:
            default_id = "case" if len(tables) == 1 else f"case-{number}"
            case = case_of(table if read else with_snake_case_names(table), default_id, scale, form=read)
        except CaseFileError as error:
            raise CaseFileError(f"{place}: {error}") from error
        if case.case_id in seen:
            raise CaseFileError(
                f"{place}: the case id {visible_line(case.case_id, _SHOWN)!r} occurs twice; give each case its own"
            )
        seen.add(case.case_id)
        cases.append(case)
    return cases


def refuse_uris(cases: Sequence[Case], over: str = "HTTP") -> None:
    """Refuse URIs in cases of clients, which would make this process read files or connect to other hosts."""
    for case in cases:
        for name in ("security_gate_uri", "agent_card_uri"):
            if getattr(case, name) is not None:
                records = name.replace("_uri", "_records")
                raise CaseFileError(
                    f"case {visible_line(case.case_id, 80)!r}: {name} is not accepted over {over}; send {records}"
                )
