"""What a runtime waits for, in words: for the person who stopped it."""

from jury_actors.load import ModelLoad, RuntimeLoad, merged
from jury_events.text import duration, pluralize, visible_line

_MOST_NAMED = 5
"""Models that are named."""

_MODEL_NAME = 60


def waits_text(load: RuntimeLoad) -> str:
    """Such as `3 calls: gpt-5 (openai) 12 s, gemini-3-pro (google) 2 calls, 4 s; 5 appends to store`."""
    calls = merged(seat.calls for seat in load.seats if seat.calls is not None)
    calling, permits = sum(one.calling for one in calls), sum(one.waiting for one in calls)
    away = ["the final judge" if seat.juror_id is None else seat.juror_id for seat in load.seats if seat.calls is None]
    between = sum(seat.steps for seat in load.seats if seat.calls is not None) - calling - permits
    said = [
        f"{pluralize(calling, 'call')}: {_models(calls)}" if calling else "",
        f"a permit for {pluralize(permits, 'call')}" if permits else "",
        # Between two attempts of a call, or an answer that is being recorded.
        f"{pluralize(between, 'step')} between two calls" if between > 0 else "",
        f"{pluralize(load.appends, 'append')} to store" if load.appends else "",
        f"jurors that do not answer: {visible_line(', '.join(away), 200)}" if away else "",
    ]
    return "; ".join(filter(None, said)) or f"{pluralize(load.debates, 'debate')} between two steps"


def _models(calls: tuple[ModelLoad, ...]) -> str:
    """The models with calls in flight, the one with the longest call first."""
    slowest = sorted((one for one in calls if one.calling), key=lambda one: -one.seconds)
    named = [_named(one) for one in slowest[:_MOST_NAMED]]
    if more := len(slowest) - len(named):
        named.append(pluralize(more, "more model"))
    return ", ".join(named)


def _named(one: ModelLoad) -> str:
    provider, _, model = one.model.partition("/")
    calls = "" if one.calling == 1 else f"{one.calling} calls, "
    return f"{visible_line(f'{model} ({provider})', _MODEL_NAME)} {calls}{duration(one.seconds)}"
