"""Stores with a run of many finished debates, made by appending the events of one recorded debate under other ids.

    python benchmarks/stored_runs.py STORE FIRST LAST SEATS

Used by `growth.py`, in a process of its own: the peak of memory of a process counts for those that it starts.
"""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from growth_cases import RUN, case, panel

from jury_events.debate_history import DebateHistory
from jury_events.envelope import NewEvent
from jury_events.ids import calls_stream, debate_stream
from jury_events.parts import encode_digest, part_digest
from jury_judge import Jury
from jury_judge.settings.jury import RuntimeSettings
from jury_migrations.upgrading import upgrade
from jury_providers.simulated.script import Script
from jury_store.event_store import Append
from jury_store.opening import open_store

GROUP = 250
"""Debates that are appended at once."""


async def template(folder: Path, seats: int) -> DebateHistory:
    """One recorded debate."""
    (folder / "panel.yaml").write_text(panel(seats))
    url = f"sqlite:///{folder / 'template.db'}"
    (folder / "template.db").unlink(missing_ok=True)
    async with Jury(
        folder / "panel.yaml", store=url, runtime=RuntimeSettings(simulate=Script(answers="scripted"))
    ) as jury:
        await jury.evaluate(case(0), run_id=RUN)
        return await jury.read(f"{RUN}~{case(0)['case_id']}")


def appends(history: DebateHistory, numbers: range) -> Iterator[Append]:
    """The events of the debate under the ids of other cases."""
    old = str(case(0)["case_id"]).encode()
    digest = history.opened.case.digest
    judged, others = history.parts[digest], [part for one, part in history.parts.items() if one != digest]
    for number in numbers:
        new = str(case(number)["case_id"]).encode()
        content = judged.content.replace(old, new)
        part = judged._replace(digest=part_digest(judged.salt, content), content=content)
        renamed = (old, new), (encode_digest(digest).encode(), encode_digest(part.digest).encode())
        for stream, epoch in ((debate_stream(history.debate_id), 1), (calls_stream(history.debate_id), None)):
            events = []
            for one in history.streams[stream]:
                body = one.body
                for before, after in renamed:
                    body = body.replace(before, after)
                events.append(NewEvent(one.event_id, one.type, one.schema, one.recorded_at, body))
            if epoch is not None:
                events[0] = events[0]._replace(parts=(part, *others))
            where = stream.replace(old.decode(), new.decode())
            yield Append(where, tuple(events), 0 if epoch else None, epoch)


def fill(path: Path, history: DebateHistory, numbers: range) -> None:
    """A store with a finished debate of each of these cases of a run."""
    upgrade(f"sqlite:///{path}")
    with closing(open_store(f"sqlite:///{path}", write=True)) as store:
        for start in range(numbers.start, numbers.stop, GROUP):
            group = list(appends(history, range(start, min(start + GROUP, numbers.stop))))
            for result in store.append(group):
                assert not isinstance(result, Exception), result
            while store.project() or store.index_texts(5000):
                pass


def main() -> None:
    """Make the store."""
    store, first, last, seats = Path(sys.argv[1]), *map(int, sys.argv[2:5])
    fill(store, asyncio.run(template(store.parent, seats)), range(first, last))


if __name__ == "__main__":
    main()
