"""Where the items of a case come from: stored as a part of its own, beside the case and outside what is compared.

A case is the same case whichever file it was read from.
"""

from typing import Annotated

from pydantic import Field, ValidationError

from jury_events.canonical import canonical_json
from jury_events.case import Case, Scenario
from jury_events.errors import EventError
from jury_events.transcript import ItemSource, Text
from jury_events.value import Value

_NOT_OF_THE_CASE = "the stored text does not say where the items of the case come from"


class _Stored(Value):
    """The stored form: for each scenario the number of the message and the place of each item."""

    position: Text | None = None
    items: tuple[tuple[tuple[Annotated[int, Field(ge=0, le=2**31)], Text], ...], ...]


def provenance(case: Case) -> bytes | None:
    """What is known of where a case comes from, as canonical JSON; None where nothing is."""
    sources = [scenario.execution.transcript.sources for scenario in case.scenarios]
    if case.position is None and not any(sources):
        return None
    items = [[[one.message, one.place] for one in listed] for listed in sources]
    return canonical_json({"items": items, **({} if case.position is None else {"position": case.position})})


def with_provenance(case: Case, content: bytes) -> Case:
    """The case with what `provenance` wrote."""
    try:
        stored = _Stored.model_validate_json(content)
        pairs = zip(case.scenarios, stored.items, strict=True)
        scenarios = tuple(_sourced(scenario, tuple(_sources(listed))) for scenario, listed in pairs)
    except (ValidationError, ValueError) as error:
        raise EventError(_NOT_OF_THE_CASE) from error
    return case.changed(scenarios=scenarios, position=stored.position)


def item_messages(case: Case, content: bytes) -> tuple[tuple[int, ...], ...]:
    """The numbers of the messages that the items come from, by scenario: what `with_provenance` puts into the case.

    A scenario whose sources are not known has none.
    """
    try:
        stored = _Stored.model_validate_json(content)
    except ValidationError as error:
        raise EventError(_NOT_OF_THE_CASE) from error
    numbers = tuple(tuple(message for message, _ in listed) for listed in stored.items)
    items = [len(scenario.execution.transcript) for scenario in case.scenarios]
    if len(items) != len(numbers) or any(len(one) not in {0, of} for one, of in zip(numbers, items, strict=True)):
        raise EventError(_NOT_OF_THE_CASE)
    return numbers


def without_provenance(case: Case) -> Case:
    """The case as it is judged, compared and stored."""
    return case.changed(scenarios=tuple(_sourced(scenario, ()) for scenario in case.scenarios), position=None)


def _sources(listed: tuple[tuple[int, str], ...]) -> tuple[ItemSource, ...]:
    return tuple(ItemSource(message=message, place=place) for message, place in listed)


def _sourced(scenario: Scenario, sources: tuple[ItemSource, ...]) -> Scenario:
    execution = scenario.execution
    return scenario.changed(execution=execution.changed(transcript=execution.transcript.changed(sources=sources)))
