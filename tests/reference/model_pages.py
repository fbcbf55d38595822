"""Reference pages that are made from models: panel files, events, results, reports, live events, tables."""

import tomllib
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import TypeAdapter

from jury_analysis.report_object import REPORTS, report_schema
from jury_debate import PRESETS
from jury_events import BUNDLED_SCALES, SCHEMAS, STREAMS, AnyEvent, bundled_scale
from jury_judge.panels.panel_schema import field_docs, panel_schema
from jury_judge.tables.exported_rows import (
    BALLOTS,
    CASE_TEXTS,
    DEBATES,
    DECISIVE_WORDS,
    EVIDENCE,
    EVIDENCE_TEXTS,
    EXCHANGE_TEXTS,
    EXCHANGES,
    LABELS,
    REASON_TEXTS,
    REASONS,
)
from jury_views import DebateResult, live_schema
from reference.markdown import code, introduction, page, schema_tables, table

_HERE = Path(__file__).parent
_WORDS = {"list<item: string>": "list of string", "timestamp[us, tz=UTC]": "timestamp (µs, UTC)", "double": "float64"}

TABLES = {
    "ballots": (BALLOTS, {}),
    "debates": (DEBATES, CASE_TEXTS | DECISIVE_WORDS),
    "reasons": (REASONS, REASON_TEXTS),
    "exchanges": (EXCHANGES, EXCHANGE_TEXTS),
    "evidence": (EVIDENCE, EVIDENCE_TEXTS),
    "labels": (LABELS, {}),
}
"""The schemas of the exported tables, and the columns that `--texts` adds."""


def panel_files() -> str:
    """Every field of a panel file."""
    schema = panel_schema()
    presets = []
    for name, rules in PRESETS.items():
        discussion = [
            str(rules["discussion"][field])
            for field in ("order", "threshold", "always_discuss", "max_rounds", "history")
        ]
        presets.append((code(name), *discussion, str(rules["final"]["method"])))
    scales = []
    for name in BUNDLED_SCALES:
        known = bundled_scale(name, "en")
        criteria = (
            ", ".join(f"{code(one.name)} {one.maximum:g}" for one in known.rubric.asked)
            if known.rubric
            else "the panel's rubric"
        )
        scales.append((code(name), ", ".join(map(code, known.scale.ids)), criteria or "none"))
    return page(
        "Panel files",
        "people who write panels",
        "the models that read the file",
        introduction("panel-files"),
        schema_tables(schema, "PanelFile", {}),
        "## Presets",
        table(("preset", "order", "threshold", "always_discuss", "max_rounds", "history", "final"), presets),
        "## Bundled scales",
        table(("name", "labels", "criteria"), scales),
    )


def events() -> str:
    """Every event of the log with its fields."""
    schema = TypeAdapter(AnyEvent).json_schema(mode="serialization")
    kinds = {one.__name__: one for one in AnyEvent.__args__}
    said = field_docs(*kinds.values())
    definitions = schema["$defs"]
    parts = []
    for prefix in dict.fromkeys(STREAMS.values()):
        parts.append(f"## {prefix}ID")
        for name, kind in kinds.items():
            word = kind.model_fields["type"].default
            if STREAMS[word] == prefix:
                one = {key: value for key, value in definitions[name].items() if key != "$defs"}
                parts.append(f"Schema {SCHEMAS[word]} of `{word}`." if SCHEMAS[word] != 1 else "")
                parts.append(schema_tables({**one, "$defs": {}}, name, said, "###"))
    values = {name: one for name, one in definitions.items() if name not in kinds}
    first = next(iter(values))
    parts += ["## Values in events", schema_tables({**values.pop(first), "$defs": values}, first, said, "###")]
    return page(
        "Events of the log",
        "auditors, and programs that read the log",
        "the events themselves",
        introduction("events"),
        *parts,
    )


def results() -> str:
    """The result of a debate."""
    schema = TypeAdapter(DebateResult).json_schema(by_alias=False, mode="serialization")
    return page(
        "Results",
        "programs that read verdicts",
        "the model of results",
        introduction("results"),
        schema_tables(schema, "DebateResult", {}),
    )


def tables() -> str:
    """The columns of exported tables."""
    said = tomllib.loads((_HERE / "columns.toml").read_text("utf-8"))
    parts = []
    for name, (schema, texts) in TABLES.items():
        columns = said[name]["columns"]
        rows = []
        for one in [*schema, *(pa.field(*each) for each in texts.items())]:
            null, meaning = columns.get(one.name, ("", ""))
            null = "never" if not one.nullable else null
            added = "with `--texts`: " if one.name in texts and "--texts" not in meaning else ""
            rows.append((code(one.name), _WORDS.get(str(one.type), str(one.type)), null, added + meaning))
        unknown = set(columns) - {one.name for one in schema} - set(texts)
        assert not unknown, f"columns.toml names columns that {name} has not: {sorted(unknown)}"
        parts.append(f"## {name}\n\n{said[name]['about']}\n\n{table(('column', 'type', 'null', 'meaning'), rows)}")
    return page(
        "Exported tables",
        "people who read votes as tables",
        "the schemas of the tables and `tests/reference/columns.toml`",
        introduction("tables"),
        *parts,
    )


def statistics() -> str:
    """Formulas of all figures, and the fields of the reports."""
    found = tomllib.loads((_HERE / "figures.toml").read_text("utf-8"))["section"]
    parts = [_figures(one) for one in found]
    reports = []
    for name, (_, title, _) in REPORTS.items():
        schema = report_schema(name)
        outer = {key: value for key, value in schema.items() if key != "$defs"}
        reports.append((title, name, outer, schema.get("$defs", {})))
    shared: dict[str, Any] = {}
    for *_, inner in reports:
        shared |= inner
    for title, name, outer, _ in reports:
        parts.append(f"### Report `{name}`\n\n{schema_tables({**outer, '$defs': {}}, title, {}, '####')}")
    parts.append(
        "### Objects in reports\n\n"
        + schema_tables({**shared.pop("Estimate"), "$defs": shared}, "Estimate", {}, "####")
    )
    cut = len(found)
    return page(
        "Figures of statistics",
        "people who read `jury stats`, `gate`, `value`, `probe` and `compare`",
        "`tests/reference/figures.toml` and the published schemas of reports",
        introduction("statistics"),
        "## Formulas",
        *parts[:cut],
        "## Fields of reports",
        *parts[cut:],
    )


def _figures(section: dict[str, Any]) -> str:
    """The formulas of a family, and an example to check by hand."""
    formulas = table(section["head"], section["rows"]) if section["rows"] else ""
    return f"### {section['title']}\n\n{formulas}\n\n{section.get('example', '')}"


def live_events() -> str:
    """What readers of a running debate get."""
    parts = []
    for name, title in (("sse-events", "Server-sent events"), ("websocket-frames", "WebSocket frames")):
        schema = live_schema(name)
        rows = []
        for word in (one["$ref"].rsplit("/", 1)[1] for one in schema["oneOf"]):
            one = schema["$defs"][word]
            fields = (field for field in one["properties"] if field not in ("type", "position"))
            rows.append((code(word), ", ".join(map(code, fields)), one["description"]))
        parts.append(
            f"## {title}\n\n{schema.get('description', '')}\n\n{table(('`type`', 'further fields', 'when'), rows)}"
        )
    return page(
        "Live events",
        "programs that follow running debates",
        "the JSON Schemas at `/schemas/sse-events.json` and `/schemas/websocket-frames.json`",
        introduction("live-events"),
        *parts,
    )
