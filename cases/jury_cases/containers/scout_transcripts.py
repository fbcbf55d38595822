"""Transcripts that Inspect Scout reads: databases (`scout://FOLDER`), and sources (`scout+langsmith:project=P`).

Each becomes a row in the shape of a sample of an Inspect log. Needs the extra `scout`.
"""

import asyncio
import importlib
import inspect
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

from jury_cases.containers.row import EVAL_KEY, FileRow, RowSource
from jury_cases.errors import CaseFileError
from jury_events.errors import install_line
from jury_events.text import visible_line

DATABASE = "scout://"
SOURCE = "scout+"

_FACTS = (
    *("source_type", "source_id", "source_uri", "date", "task_set", "task_id", "task_repeat", "agent", "model"),
    *("success", "total_time", "total_tokens"),
)


def read_rows(path: str) -> Iterator[FileRow]:
    """The transcripts, one in memory at a time.

    Args:
        path: `scout://FOLDER`, or `scout+NAME:key=value&key=value` with the arguments of `inspect_scout.sources.NAME`.
    """
    name = visible_line(path, 1000)
    transcripts = _transcripts(path, name)
    origin = RowSource(name, "scout")
    with ThreadPoolExecutor(max_workers=1) as thread:  # the caller's thread may run an event loop
        loop = asyncio.new_event_loop()
        try:
            number = 0
            while (found := thread.submit(loop.run_until_complete, anext(transcripts, None)).result()) is not None:
                number += 1
                yield origin.numbered(
                    number, scout_sample(found), f"transcript {visible_line(found.transcript_id, 200)}"
                )
        except (CaseFileError, GeneratorExit):
            raise
        except Exception as error:  # of any library that Scout reads with
            raise CaseFileError(f"{name}: Scout cannot read it: {visible_line(_words(error), 500)}") from error
        finally:
            thread.submit(_closed, loop, transcripts).result()


def _closed(loop: asyncio.AbstractEventLoop, transcripts: AsyncIterator[Any]) -> None:
    close = getattr(transcripts, "aclose", None)
    if close is not None:
        loop.run_until_complete(close())
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


def _words(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


def _transcripts(path: str, name: str) -> AsyncIterator[Any]:
    if path.startswith(DATABASE):
        folder = path.removeprefix(DATABASE)
        if not folder:
            raise CaseFileError(f"{name}: names no folder; write scout://FOLDER")
        return _of_database(_library("inspect_scout", name), folder)
    source, _, settings = path.removeprefix(SOURCE).partition(":")
    sources = _library("inspect_scout.sources", name)
    known = sorted(getattr(sources, "__all__", ()))
    if source not in known:
        raise CaseFileError(f"{name}: Scout has no source {source!r}; its sources are {', '.join(known)}")
    read = getattr(sources, source)
    return read(**_arguments(inspect.signature(read).parameters, settings, name))  # type: ignore[no-any-return]


def _library(module: str, name: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise CaseFileError(f"{name}: needs {error.name or module}: {install_line('scout')}") from error


async def _of_database(scout: Any, folder: str) -> AsyncIterator[Any]:
    content = scout.TranscriptContent(messages="all")
    async with scout.transcripts_from(folder).reader() as reader:
        async for info in reader.index():
            yield await reader.read(info, content)


def _arguments(parameters: Any, settings: str, name: str) -> dict[str, Any]:
    """The settings as arguments: numbers and times as such."""
    found: dict[str, Any] = {}
    for key, value in parse_qsl(settings, keep_blank_values=True):
        if key not in parameters:
            known = ", ".join(parameters)
            raise CaseFileError(f"{name}: there is no setting {key!r}; write key=value, joined by &, of {known}")
        written = str(parameters[key].annotation)
        try:
            found[key] = (
                int(value) if "int" in written else datetime.fromisoformat(value) if _is_time(written) else value
            )
        except ValueError as error:
            raise CaseFileError(f"{name}: {key}={visible_line(value, 100)}: must be a number or a time") from error
        if "list[str]" in written and "str |" not in written:
            found[key] = value.split(",")
    missing = [key for key, one in parameters.items() if one.default is one.empty and key not in found]
    if missing:
        raise CaseFileError(f"{name}: setting {missing[0]!r} is missing")
    return found


def _is_time(annotation: str) -> bool:
    return "datetime" in annotation


def scout_sample(transcript: Any) -> dict[str, Any]:
    """A transcript of Scout, with its messages, as a sample of an Inspect log."""
    facts = {key: getattr(transcript, key, None) for key in _FACTS}
    own = dict(transcript.metadata)
    score = transcript.score
    return {
        EVAL_KEY: {},
        "id": transcript.transcript_id,
        "epoch": 1,
        "input": None,
        "target": None,
        "messages": [one.model_dump(mode="json", exclude_none=True) for one in transcript.messages],
        "metadata": own | {key: value for key, value in facts.items() if value is not None},
        "scores": {} if score is None else {"score": {"value": score}},
        "error": transcript.error,
        "limit": transcript.limit,
    }
