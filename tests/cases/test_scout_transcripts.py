"""`scout://FOLDER` and `scout+SOURCE:…`: transcripts that Inspect Scout reads, with a stand-in for its package."""

import re
import sys
from collections.abc import AsyncIterator
from types import ModuleType, SimpleNamespace
from typing import Any, Self

import pytest

from jury_cases import CaseFileError, CaseFiles
from jury_events import install_line
from support.each_row import each_row


class Message(SimpleNamespace):
    def model_dump(self, **_options: Any) -> dict[str, Any]:
        return dict(vars(self))


def transcript(name: str) -> SimpleNamespace:
    messages = [Message(role="user", content=f"Ask {name}."), Message(role="assistant", content="Done.")]
    facts = dict.fromkeys(("task_set", "task_id", "task_repeat", "source_type", "source_id", "source_uri", "date"))
    return SimpleNamespace(
        transcript_id=name, messages=messages, metadata={"team": "a"}, score=1.0, error=None, limit=None, **facts
    )


async def langsmith(project: str, limit: int | None = None) -> AsyncIterator[Any]:
    for number in range(limit or 1):
        if project == "closed":
            raise RuntimeError("no such project\nsecond line")
        yield transcript(f"{project}-{number}")


@pytest.fixture(autouse=True)
def scout(monkeypatch: pytest.MonkeyPatch) -> None:
    class Reader:
        async def __aenter__(self) -> Self:
            return self

        async def __aexit__(self, *_error: object) -> None:
            return None

        async def index(self) -> AsyncIterator[str]:
            for name in ("one", "two"):
                yield name

        async def read(self, name: str, content: Any) -> SimpleNamespace:
            assert content == {"messages": "all"}
            return transcript(name)

    package, sources = ModuleType("inspect_scout"), ModuleType("inspect_scout.sources")
    vars(package).update(
        TranscriptContent=dict, transcripts_from=lambda _folder: SimpleNamespace(reader=Reader), sources=sources
    )
    vars(sources).update(langsmith=langsmith, __all__=["langsmith"])
    monkeypatch.setitem(sys.modules, "inspect_scout", package)
    monkeypatch.setitem(sys.modules, "inspect_scout.sources", sources)


def read(path: str) -> list[Any]:
    return list(CaseFiles([path]))


def test_a_database_is_read_as_samples_of_inspect() -> None:
    one, two = read("scout://transcripts")

    assert ("one", "two") == (one.case_id, two.case_id)
    assert "Ask one." == one.scenarios[0].question.prompt
    assert "Done." == one.scenarios[0].execution.response
    assert ("a", 1.0) == (one.metadata["team"], one.metadata["score.score"])


async def test_a_source_is_read_with_its_settings_also_inside_an_event_loop() -> None:
    assert ["shop-0", "shop-1"] == [case.case_id for case in read("scout+langsmith:project=shop&limit=2")]


@each_row(
    ("path", "message"),
    [
        ("scout://", "scout://: names no folder; write scout://FOLDER"),
        ("scout+none:x=1", "scout+none:x=1: Scout has no source 'none'; its sources are langsmith"),
        (
            "scout+langsmith:a=1",
            "scout+langsmith:a=1: there is no setting 'a'; write key=value, joined by &, of project, limit",
        ),
        ("scout+langsmith:project=p&limit=x", "limit=x: must be a number or a time"),
        ("scout+langsmith:project=closed", "scout+langsmith:project=closed: Scout cannot read it: no such project"),
        ("scout+langsmith:shop", "there is no setting 'shop'; write key=value, joined by &, of project, limit"),
        ("scout+langsmith", "scout+langsmith: setting 'project' is missing"),
    ],
)
def test_errors_are_one_line_and_name_the_remedy(path: str, message: str) -> None:
    with pytest.raises(CaseFileError) as raised:
        read(path)

    assert str(raised.value).endswith(message)


def test_without_the_extra_the_error_has_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "inspect_scout", None)

    with pytest.raises(CaseFileError, match=re.escape(f"scout://x: needs inspect_scout: {install_line('scout')}")):
        read("scout://x")
