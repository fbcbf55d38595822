"""The stream of a run that says how many debates it is to have, and lists none."""

from jury_events import ListCompleted, RunOpened, encode, run_stream
from jury_store import Append, EventStore, first_refusal
from support.samples import sample_events


def complete_list(store: EventStore, run_id: str, cases: int, number: int = 1) -> None:
    """Record that the list of a run is complete, for the `number`th time."""
    opened = sample_events()["run_opened"]
    assert isinstance(opened, RunOpened)
    events = [opened.changed(run_id=run_id)] if number == 1 else []
    events.append(ListCompleted(number=number, debates=0, cases=cases))
    written = tuple(encode(one, recorded_at=0) for one in events)
    assert first_refusal(store.append([Append(run_stream(run_id), written, number if number > 1 else 0)])) is None
