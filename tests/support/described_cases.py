"""All that a case has of the rows of a file, as text: one line a fact and one an item; or why the rows are refused."""

import json
from pathlib import Path
from typing import Any

from jury_cases import FORMATS, CaseFileError, CaseFiles, CaseOptions, FileRow, format_of, read_case
from jury_debate import PROMPTS_VERSION, load_prompts, render_case, unmark
from jury_events import Case, Scenario

_OF_THE_ITEM = ("kind", "digest", "location")


def outcome(folder: Path, *rows: Any, **options: Any) -> str:
    """The cases of a file with these rows, or the message of the refusal."""
    path = folder / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return outcome_of(path, **options)


def outcome_of(path: Path, **options: Any) -> str:
    try:
        return "\n\n".join(described(case) for case in CaseFiles([path], CaseOptions(**options)))
    except CaseFileError as error:
        said = str(error)
    assert "\n" not in said
    return f"refused: {said}"


def described(case: Case) -> str:
    unseen = [f"{one.count} × {one.what}" for one in case.omissions(images_seen=True)]
    facts = {
        "metadata": case.metadata,
        "tags": case.tags,
        "cluster": case.cluster,
        "cost": case.agent_cost,
        "label": case.label,
        "not shown": unseen,
    }
    return "\n".join(
        [f"case {case.case_id}", *_said(facts), *(line for one in case.scenarios for line in _scenario(one))]
    )


def _scenario(scenario: Scenario) -> list[str]:
    asked, done = scenario.question, scenario.execution
    before = {"question": asked.prompt, "policy": asked.policy, "expected": asked.expected_behavior}
    after = {"response": done.response, "error": done.error}
    answers = done.transcript.answered_calls()
    items = [
        f"{number} {item.kind}{'' if answers[number] is None else f' of {answers[number]}'} "
        f"(message {source.message} at {source.place}):{_fields(dict(item))}"
        for number, (item, source) in enumerate(zip(done.transcript.items, done.transcript.sources, strict=True))
    ]
    return [*_said(before), *items, *_said(after)]


def _said(facts: dict[str, Any]) -> list[str]:
    return [f"{name}: {_written(value)}" for name, value in facts.items() if value not in (None, "", (), [], {})]


def _fields(fields: dict[str, Any]) -> str:
    kept = {name: one for name, one in fields.items() if name not in _OF_THE_ITEM and one not in (None, "", False)}
    return "".join(f" {name}={_written(one)}" for name, one in kept.items())


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def read(row: Any, form: str | None = None) -> list[Case]:
    """The cases of a row, or of a trace, in the format that it has or that is named."""
    found = format_of(row, None) if form is None else FORMATS[form]
    rows = [row]
    if found.gather is not None:
        gathering = found.gather()
        gathering.add(FileRow("row 1", 1, 1, row, "rows"))
        rows = [one.data for one in gathering.cases()]
    return [read_case(one, default_id="first", form=found) for one in rows]


def text_shown(case: Case) -> str:
    """What jurors read of a case, without the signs before its lines."""
    sign = "kz:"
    texts = load_prompts(PROMPTS_VERSION, "en").texts.case
    return unmark(render_case(case, texts, sign, marking="lines", images=True), sign)
