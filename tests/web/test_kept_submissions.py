"""Submissions that a server did not end: kept on disk, and gone on with by the next server of the store."""

import asyncio
import json
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from jury_judge import (
    Jury,
    KeptSubmission,
    KeptSubmissions,
    RunRefused,
    RuntimeSettings,
    Service,
    Submission,
    Submissions,
    kept_submissions,
)
from jury_providers import NO_FAULTS, Script
from jury_store import open_store
from support.debate_harness import a_case

pytestmark = pytest.mark.full_for("postgresql")

CASES = (a_case("one"), a_case("two"))
NEVER = Script(latency=3600.0)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path / "private"))
    found: str = request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")
    return found


@asynccontextmanager
async def server(url: str, script: Script = NO_FAULTS, panel: str = "usual") -> AsyncIterator[Submissions]:
    """The submissions of a server with one panel."""
    async with service(url, script, panel) as found:
        yield found.submissions


@asynccontextmanager
async def service(url: str, script: Script = NO_FAULTS, panel: str = "usual") -> AsyncIterator[Service]:
    found = Service(
        open_store(url, write=False),
        {
            panel: lambda on_chunk: Jury(
                "independent", store=url, runtime=RuntimeSettings(simulate=script), on_chunk=on_chunk
            )
        },
        store_url=url,
        database=Path(url.removeprefix("sqlite:///")) if url.startswith("sqlite") else None,
        kept=kept_submissions(url),
    )
    try:
        yield found
    finally:
        await found.close()


async def ended(submission: Submission | None) -> None:
    assert submission is not None
    await asyncio.wait([submission.task])
    assert submission.problem is None


async def test_the_next_server_goes_on_with_a_run_and_an_evaluation(url: str) -> None:
    async with server(url, NEVER) as first:
        run = await first.run(CASES, panel=None, run_id="r1", concurrency=1)
        lone = await first.evaluate(CASES[0], panel=None, run_id=None, submission_id="mine")
    kept = list(kept_submissions(url).all())
    async with server(url) as second:
        resumed = await second.resume()
        await ended(second.find("run", run.id))
        await ended(second.find("evaluation", lone.id))
        rows = {row.debate_id: row.status for row in second._store.debates()}
    async with server(url) as third:
        nothing = await third.resume()

    assert [("run", "r1", 1), ("evaluation", lone.id, None)] == [(one.kind, one.name, one.concurrency) for one in kept]
    assert (2, 0) == (resumed, nothing)
    assert {"r1~one": "completed", "r1~two": "completed", lone.id: "completed"} == rows
    assert not kept_submissions(url).folder.exists()


async def test_what_is_over_or_refused_is_not_kept(url: str) -> None:
    async with server(url) as submissions:
        await ended(await submissions.evaluate(CASES[0], panel=None, run_id="r1", submission_id=None))
        over = list(kept_submissions(url).all())
        other = a_case("one", scenarios=2)
        with pytest.raises(RunRefused):
            await (await submissions.evaluate(other, panel=None, run_id="r1", submission_id=None)).task

    assert [] == over == list(kept_submissions(url).all())


async def test_a_submission_whose_panel_is_not_served_stays(sqlite_url: str, caplog: pytest.LogCaptureFixture) -> None:
    async with server(sqlite_url, NEVER) as first:
        await first.evaluate(CASES[0], panel=None, run_id="r1", submission_id=None)
    async with server(sqlite_url, panel="another") as second:
        resumed = await second.resume()

    assert 0 == resumed
    assert "evaluation r1~one could not be resumed: there is no panel 'usual' here" in caplog.text
    assert ["r1~one"] == [one.name for one in kept_submissions(sqlite_url).all()]


async def test_a_folder_that_cannot_be_written_does_not_stop_a_submission(
    sqlite_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    kept_submissions(sqlite_url).folder.write_text("a file in its place")
    async with server(sqlite_url) as submissions:
        await ended(await submissions.evaluate(CASES[0], panel=None, run_id="r1", submission_id=None))

    assert "is not kept for a restarted server" in caplog.text


def test_a_kept_submission_comes_back_as_it_was_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    kept = KeptSubmissions(tmp_path / "kept")
    one = KeptSubmission("run", "r1", "usual", CASES, "r1", None, 3)
    kept.keep(one)
    kept.keep(one)
    (path,) = kept.folder.iterdir()

    assert [one] == list(kept.all())
    assert (0o700, 0o600) == tuple(stat.S_IMODE(each.stat().st_mode) for each in (kept.folder, path))
    assert "usual" == json.loads(path.read_text())["panel"]
    kept.drop("evaluation", "r1")
    assert [one] == list(kept.all())
    kept.drop("run", "r1")
    assert not kept.folder.exists()
