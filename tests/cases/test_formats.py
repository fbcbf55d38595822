"""What is read of rows that real systems write: `formats/*.json` has the rows, `printed/*.txt` what a case has of them.

A file is a table by name; an entry is a list of rows, or a table of these rows (`rows`, or `files` by their paths, or
the `text` of a `file`) and of options of the reader. `pytest --update` writes what is read.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import pytest
from pydantic import BaseModel

from support.described_cases import outcome_of
from support.otel_spans import export
from support.refusals import RefusalTables

FORMATS = Path(__file__).parent / "formats"


def table(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FORMATS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def written(folder: Path, entry: dict[str, Any]) -> Path:
    """The files of an entry; what is left of it are options."""
    if "text" in entry:
        path = folder / entry.pop("file")
        path.write_text(entry.pop("text"), encoding="utf-8")
        return path
    rows = entry.pop("rows", [])
    files = entry.pop("files", {"rows.jsonl": [export(rows)] if entry.pop("spans", False) else rows})
    for name, lines in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return folder if len(files) > 1 else folder / next(iter(files))


@pytest.mark.parametrize("name", sorted(path.stem for path in FORMATS.iterdir()))
def test_what_is_read_of_rows(printed: RefusalTables, tmp_path: Path, name: str) -> None:
    found = {}
    for number, (entry, content) in enumerate(table(name).items()):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        options = {"rows": content} if isinstance(content, list) else dict(content)
        path = written(folder, options)
        found[entry] = outcome_of(path, **options).replace(str(folder), "{folder}")

    printed.compare(name, found)


# Every type of block, item and part in the SDKs of OpenAI, Anthropic and Google has an entry.


def kinds_of(union: Any) -> Iterator[str]:
    """The values of `type` in a union of models or typed dictionaries."""
    if get_origin(union) is Annotated:
        yield from kinds_of(get_args(union)[0])
    elif members := get_args(union):
        for member in members:
            yield from kinds_of(member)
    elif issubclass(union, BaseModel):
        yield from literals_of(union.model_fields["type"].annotation)
    else:
        yield from literals_of(get_type_hints(union)["type"])


def literals_of(hint: Any) -> Iterator[str]:
    for one in get_args(hint):
        yield from [one] if isinstance(one, str) else literals_of(one)


@pytest.mark.full
def test_everything_in_the_sdks_of_providers_is_tried() -> None:
    import anthropic.types.beta as anthropic_beta
    import openai.types.responses as openai_responses
    from google.genai import types as genai
    from openai.types.chat import ChatCompletionContentPartParam

    unions = {
        "anthropic_blocks": (anthropic_beta.BetaContentBlock, anthropic_beta.BetaContentBlockParam),
        "openai_items": (
            *(openai_responses.ResponseOutputItem, openai_responses.ResponseItem),
            openai_responses.ResponseInputItemParam,
        ),
    }

    for name, of_sdk in unions.items():
        assert table(name).keys() == {kind for union in of_sdk for kind in kinds_of(union)}
    assert table("google_parts").keys() == {one.alias or name for name, one in genai.Part.model_fields.items()}
    assert {"text", "image_url", "input_audio", "file"} == set(kinds_of(ChatCompletionContentPartParam))
