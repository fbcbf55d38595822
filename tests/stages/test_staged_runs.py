"""A run by a ladder: a debate a stage, decided from the log; one debate a case counts."""

import asyncio
import json
from base64 import b64encode
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from jury_actors import Finished
from jury_events import audited
from jury_judge import (
    Handed,
    LiveRunReader,
    NoListener,
    RunOutcome,
    RunPlan,
    RunRefused,
    applied,
    followed,
    handed,
    judge_run,
    listed_runs,
    load_panel,
    next_stages,
    opening_of,
    uncertified,
)
from jury_providers import KeyMissing, Script
from jury_replay import DebateSelection, replay
from jury_store import ALL_STAGES, DebateFilter, DebateRow, open_registry, open_store
from support.ladders import Accepts, a_certificate, a_ladder, panel_file, staged
from support.samples import PNG
from support.tiers import others_full

PASSES: Accepts = {"pass": 1.0}
EARLY, LATE = ["c0", "c2", "c4"], ["c1", "c3", "c5"]
EVERY = sorted(EARLY + LATE)
IN_ORDER = [f"r~{one}{'~s2' * (one in LATE)}" for one in EVERY]
KEY_REFUSED = Script(scripted={"*~s2/*": ("authentication",)})


async def _judged(planned: RunPlan) -> tuple[RunOutcome, list[dict[str, Any]], list[str]]:
    lines: list[dict[str, Any]] = []
    said: list[str] = []
    outcome = await judge_run(planned, lines.append, say=said.append)
    return outcome, lines, said


class _Stages(NoListener):
    """How many cases went on to each stage, and how many ended."""

    def __init__(self) -> None:
        self.counts: Counter[int] = Counter()

    def goes_on(self, stage: int) -> None:
        self.counts[stage] += 1

    def ended(self, _finished: Finished) -> None:
        self.counts[0] += 1


def _rows(url: str) -> dict[str, DebateRow]:
    with closing(open_store(url, write=False)) as store:
        return {row.debate_id: row for row in store.list_debates(ALL_STAGES)}


def _some(cases: Path, chosen: slice) -> Path:
    """A file of some of the cases."""
    path = cases.with_name("some.jsonl")
    path.write_text("".join(cases.read_text().splitlines(keepends=True)[chosen]))
    return path


async def test_a_case_goes_to_the_next_stage_unless_its_verdict_is_accepted(
    cases: Path, url: str, tmp_path: Path
) -> None:
    planned = staged(cases, url, a_ladder(tmp_path, PASSES))

    outcome, lines, _ = await _judged(planned)

    assert IN_ORDER == [line["debate_id"] for line in lines]
    assert (6, 6, 0, []) == (outcome.total, outcome.now, outcome.before, outcome.problems)
    rows = _rows(url)
    assert {f"r~{one}": "escalated" for one in LATE} == {name: row.aside for name, row in rows.items() if row.aside}
    with closing(open_store(url, write=False)) as store:
        places = [opening_of(store, one).stage for one in ("r~c1", "r~c1~s2")]
        run = store.run("r")
        replayed = list(replay(store, DebateSelection(run_id="r")))
    assert [(1, 2, None), (2, 2, "r~c1")] == [(one.number, one.of, one.before) for one in places if one is not None]
    assert run is not None
    assert (6, 6, 6) == (run.debates, run.ended, run.total)
    assert 9 == len(replayed)
    assert {"equal"} == {one.status for one in replayed}


@pytest.mark.parametrize("calls", others_full(16, None))
async def test_a_staged_run_of_another_process_is_followed_through_its_stages(
    cases: Path, url: str, tmp_path: Path, calls: int | None
) -> None:
    planned = staged(cases, url, a_ladder(tmp_path, PASSES, audit=1.0), max_calls=calls)
    outcome, lines, _ = await _judged(planned)

    with followed(url, "r", NoListener()) as following:
        seen = [line async for line in following.lines()]
        ended = following.outcome(len(seen))

    assert lines == seen
    assert (6, len(lines), 0) == (ended.total, ended.before, ended.now)
    assert (outcome.short is None) == (len(seen) == 6)


async def test_who_judges_hears_which_cases_go_on_and_which_end(cases: Path, url: str, tmp_path: Path) -> None:
    judging = _Stages()

    await judge_run(
        staged(cases, url, a_ladder(tmp_path, PASSES, audit=1.0)),
        lambda _line: None,
        say=lambda _line: None,
        progress=judging,
    )

    assert {0: 6, 2: 3} == judging.counts


@pytest.mark.parametrize("certified", [True, False])
async def test_another_process_goes_on_with_a_listed_ladder_from_the_store_alone(
    cases: Path, url: str, tmp_path: Path, certified: bool
) -> None:
    ladder = a_ladder(tmp_path, PASSES, audit=0.5 * certified, certified=certified)
    planned = staged(cases, url, ladder, max_calls=20)
    await _judged(planned)
    cases.unlink()  # noqa: ASYNC240

    there = Handed.of(handed(planned, {"display": "plain"}, 0)).planned()
    went = there.loaded.ladder
    assert went is not None
    assert ladder._replace(coverage=(), stages=()) == went._replace(stages=())
    assert [one.resolved for one in ladder.stages] == [one.resolved for one in went.stages]
    assert there.run.whole, "the list is complete, whatever stages were opened since"
    there.settings = there.settings.changed(max_calls=None)
    outcome, lines, _ = await _judged(there)

    assert EVERY == [line["case_id"] for line in lines]
    assert (6, True) == (outcome.total, outcome.whole)


def test_what_is_audited_follows_from_a_secret_and_the_case() -> None:
    drawn = [audited(bytes([n % 256, n // 256]), b"case", 0.1) for n in range(2000)]

    assert drawn == [audited(bytes([n % 256, n // 256]), b"case", 0.1) for n in range(2000)]
    assert drawn != [audited(bytes([n % 256, n // 256]), b"other", 0.1) for n in range(2000)]
    assert 150 < sum(drawn) < 250
    assert [False, True] == [audited(b"secret", b"case", share) for share in (0.0, 1.0)]


@pytest.mark.parametrize("calls", others_full(16, 12, 20, 30))
async def test_a_budget_that_ends_in_or_between_stages_leaves_the_rest_to_the_same_command(
    cases: Path, url: str, tmp_path: Path, calls: int
) -> None:
    ladder = a_ladder(tmp_path, PASSES, audit=1.0)

    short, first, _ = await _judged(staged(cases, url, ladder, max_calls=calls))
    whole, lines, _ = await _judged(staged(cases, url, ladder))

    assert short.short is not None
    assert short.run_spent.calls <= calls  # type: ignore[union-attr]
    assert len(first) < 6 or calls > 12 + 4 * 3
    assert 6 == len(lines) == whole.total
    assert 12 + 4 * 6 == whole.run_spent.calls  # type: ignore[union-attr]
    assert 12 == len(_rows(url))


async def test_a_stage_that_is_unreachable_stops_the_run_and_is_resumed(cases: Path, url: str, tmp_path: Path) -> None:
    ladder = a_ladder(tmp_path, PASSES)

    stopped, first, _ = await _judged(staged(cases, url, ladder, simulate=KEY_REFUSED))
    whole, lines, _ = await _judged(staged(cases, url, ladder))

    assert EARLY == [line["case_id"] for line in first]
    assert "the provider refuses the key" in str(stopped.problems[0].problem)
    assert EVERY == [line["case_id"] for line in lines]
    assert (3, 3, []) == (whole.before, whole.now, whole.problems)


async def test_a_run_of_another_ladder_or_of_none_is_refused(cases: Path, url: str, tmp_path: Path) -> None:
    ladder = a_ladder(tmp_path, PASSES)
    await _judged(staged(cases, url, ladder))
    planned = staged(cases, url, ladder)

    with pytest.raises(RunRefused, match=r"run 'r' was begun with the ladder [0-9a-f]{16}, and this is one with the"):
        await _judged(staged(cases, url, a_ladder(tmp_path, PASSES, audit=0.5)))
    with pytest.raises(RunRefused, match=r"and this is one without a ladder: use the panel or ladder"):
        await _judged(RunPlan(planned.cases, planned.settings, loaded=ladder.stages[-1], environ={}))  # type: ignore[arg-type]


async def test_the_audited_share_is_drawn_among_the_early_exits_alone(cases: Path, url: str, tmp_path: Path) -> None:
    ladder = a_ladder(tmp_path, PASSES)
    await _judged(staged(cases, url, ladder))

    with closing(open_store(url, write=False)) as store:
        rows = store.list_debates(DebateFilter("r", stage=1))

        def drawn(share: float) -> set[str | None]:
            places = (place for _, place in next_stages(store, rows, ladder._replace(audit=share)))
            return {place.before for place in places if place.audit}

        low, high = 0.0, 1.0  # about the share from which on the first is drawn
        for _ in range(64):
            some = drawn((low + high) / 2)
            if 0 < len(some) < len(EARLY):
                break
            low, high = (low, (low + high) / 2) if some else ((low + high) / 2, high)

        assert set() == drawn(0.0) < some < drawn(1.0) == {f"r~{one}" for one in EARLY}


async def test_a_run_of_which_only_audits_are_left_is_not_complete(cases: Path, url: str, tmp_path: Path) -> None:
    ladder = a_ladder(tmp_path, PASSES, audit=1.0)
    early = _some(cases, slice(0, 6, 2))
    states = []
    for script in (KEY_REFUSED, Script()):
        await _judged(staged(early, url, ladder, simulate=script))
        with closing(open_store(url, write=False)) as store, closing(open_registry(url)) as registry:
            (listed,) = listed_runs(store, registry)
            with closing(LiveRunReader(store, url, "r")) as reader:
                states.append((listed.row.ended, listed.state, reader.read().state))

    assert [(3, "incomplete", "incomplete"), (3, "complete", "complete")] == states


async def test_other_cases_of_a_run_add_to_its_size_whatever_stage_the_others_have_reached(
    cases: Path, url: str, tmp_path: Path
) -> None:
    ladder = a_ladder(tmp_path, PASSES)
    await _judged(staged(cases, url, ladder, limit=4, max_calls=8))
    with closing(open_store(url, write=False)) as store:
        assert ["escalated", None, "escalated", None] == [row.aside for row in store.list_debates(ALL_STAGES)]

    await _judged(staged(_some(cases, slice(4, 6)), url, ladder))

    with closing(open_store(url, write=False)) as store:
        run = store.run("r")
    assert run is not None
    assert 6 == run.cases


@pytest.mark.parametrize(("threshold", "calls"), others_full((1.0, {2, 3}), (0.6, {2})))
async def test_a_stage_that_stops_early_accepts_what_it_would_accept_of_all_its_seats(
    cases: Path, tmp_path: Path, threshold: float, calls: set[int]
) -> None:
    found = []
    for stop in ("", "stop: settled\n"):
        files = [panel_file(tmp_path, "three", "a", "b", "c"), panel_file(tmp_path, "whole", "a", "b", "c", "d")]
        files[0].write_text(files[0].read_text() + stop)
        panels = [load_panel(str(one), {}) for one in files]
        url = f"sqlite:///{tmp_path}/{len(stop)}.db"
        await _judged(staged(cases, url, applied(panels, a_certificate(panels, {"pass": threshold}), 1.0)))
        found.append(_rows(url))

    every, stopped = found
    first = [name for name in every if not name.endswith("~s2")]
    assert {name: (row.aside, row.final_verdict) for name, row in every.items()} == {
        name: (row.aside, row.final_verdict) for name, row in stopped.items()
    }
    assert {None, "escalated"} == {every[name].aside for name in first}
    assert {3} == {every[name].calls for name in first}
    assert calls == {stopped[name].calls for name in first}  # the third seat may refuse what needs all three


async def test_no_further_stage_is_looked_for_once_the_run_is_to_stop(cases: Path, url: str, tmp_path: Path) -> None:
    stopping, said = asyncio.Event(), list[str]()

    outcome = await judge_run(
        staged(cases, url, a_ladder(tmp_path, PASSES)),
        lambda _line: stopping.set(),
        stopping=stopping,
        say=said.append,
    )

    assert not [one for one in said if one.startswith("stage 2")]
    assert {1} == {row.stage for row in _rows(url).values()}
    assert 6 == outcome.total


async def test_the_keys_of_all_stages_are_looked_at_before_a_call_is_made(
    cases: Path, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    files = [panel_file(tmp_path, "cheap", "a", "b"), panel_file(tmp_path, "whole", "a", "b", "c", "d")]
    files[1].write_text(files[1].read_text().replace("simulated/reader", "openai/gpt-5", 1))
    panels = [load_panel(str(one), {}) for one in files]

    with pytest.raises(KeyMissing, match="OPENAI_API_KEY"):
        await _judged(staged(cases, url, applied(panels, a_certificate(panels, PASSES))))

    assert not (tmp_path / "jury.db").exists()


async def test_a_later_stage_is_sent_the_pictures_that_the_first_one_is_not(url: str, tmp_path: Path) -> None:
    """From the store alone too: the log keeps them from the first stage on."""
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{b64encode(PNG).decode()}"}}
    row = {"messages": [{"role": "user", "content": [picture]}, {"role": "assistant", "content": "Refunded unasked."}]}
    cases = tmp_path / "pictured.jsonl"
    cases.write_text(json.dumps({"id": "c1", **row}) + "\n")
    files = [panel_file(tmp_path, "cheap", "a", "b"), panel_file(tmp_path, "whole", "a", "b", "c")]
    files[0].write_text(files[0].read_text().replace("juror_id", "images: false, juror_id"))
    files[1].write_text(files[1].read_text().replace("juror_id", "images: true, juror_id"))
    ladder = uncertified([load_panel(str(one), {}) for one in files])
    planned = staged(cases, url, ladder, max_calls=2)
    await _judged(planned)
    cases.unlink()
    there = Handed.of(handed(planned, {}, 0)).planned()
    there.settings = there.settings.changed(max_calls=None)

    outcome, _, _ = await _judged(there)

    assert outcome.whole
    with closing(open_store(url, write=False)) as store:
        assert [1, 1] == [len(opening_of(store, one).images) for one in ("r~c1", "r~c1~s2")]
        sent = [len(message.images) for one in store.history("r~c1~s2").exchanges for message in one.request]
        assert 3 == sum(sent)
        assert 0 == sum(len(m.images) for one in store.history("r~c1").exchanges for m in one.request)
        assert {"equal"} == {one.status for one in replay(store, DebateSelection(run_id="r"))}
