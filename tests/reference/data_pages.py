"""Reference pages that are made from data: formats of cases, providers, failures, metrics, columns of a store."""

import json
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

from jury_actors import METRICS
from jury_cases import FORMATS, FormatFile, format_table
from jury_events import CallOutcome
from jury_judge.panels.authoring import field_docs, prose, reached
from jury_providers import CLOUDS, PROTOCOL_DEFAULTS, FailureKind, known_failures
from reference.markdown import code, introduction, page, table
from reference.program_pages import field_docs_of_members

_TESTS = Path(__file__).parents[1]
_DIALECTS = tomllib.loads((files("jury_providers") / "dialects.toml").read_text("utf-8"))
_USUAL = {"base_url", "key_env", "source", "day", "structured", "output_limit"}
_READER = "people who choose models"


def case_formats() -> str:
    """The formats of cases, each with the table's row and a small example."""
    examples = json.loads((_TESTS / "cases" / "format_examples.json").read_text("utf-8"))
    shown = [
        f"### {name}\n\n```json\n{json.dumps(examples[name], ensure_ascii=False)}\n```"
        for name in FORMATS
        if name in examples
    ]
    return page(
        "Case formats",
        "people whose cases another tool wrote",
        "the formats themselves",
        introduction("case-formats"),
        format_table(),
        "## Examples",
        *shown,
    )


def format_files() -> str:
    """The keys of format files."""
    parts = []
    for kind in sorted(reached([FormatFile]), key=lambda one: (one is not FormatFile, one.__name__)):
        said = field_docs(kind)[kind.__name__]
        fields = [name for name in kind.model_fields if not name.startswith("_")]
        parts.append(f"## {kind.__name__}\n\n{prose(kind.__doc__)}\n\n")
        parts.append(table(("key", "meaning"), [(code(name), said.get(name, "")) for name in fields]))
    return page(
        "Format files",
        "people whose rows no format knows",
        "the models that read the file",
        introduction("format-files"),
        *parts,
    )


def failures() -> str:
    """What becomes of a failed call, and what providers' errors mean."""
    kinds = get_args(FailureKind)
    known = known_failures()
    rows = []
    for provider in dict.fromkeys(row.provider for row in known):
        cells = [[_failure(row) for row in known if (row.provider, row.kind) == (provider, kind)] for kind in kinds]
        rows.append((provider, *(", ".join(one) for one in cells)))
    said = field_docs_of_members(CallOutcome)
    outcomes = [(code(one.value), said[one.name]) for one in CallOutcome]
    ends = [(code(one["reason"]), code(one["outcome"]), one["source"]) for one in _DIALECTS["finish"]]
    return page(
        "Failures of providers",
        _READER,
        "`failures.toml`, `dialects.toml` and the outcomes of calls",
        "[The rules](../rules.md#when-a-call-fails) say why; this page has the tables.",
        "## Outcomes of a call",
        table(("outcome", "meaning, and what follows"), outcomes),
        "## Known errors",
        introduction("failures"),
        table(("provider", *kinds), rows),
        "## Words for the end of a reply",
        table(("finish reason", "outcome", "source"), ends),
    )


def _failure(row: Any) -> str:
    said = [code(row.code)] if row.code else []
    said += [f"“{row.phrase}”"] if row.phrase else []
    words = " ".join([*map(str, row.status), *said])
    return words if row.source else f"*{words}*"


def providers() -> str:
    """How models are reached: protocols, clouds, known servers."""
    protocols = [
        (code(name), ", then ".join(map(code, one.keys)), code(one.base_url), one.host)
        for name, one in PROTOCOL_DEFAULTS.items()
    ]
    clouds = [
        (code(protocol), code(name), _groups(cloud.settings, cloud.address), _signing(cloud))
        for protocol, by_name in CLOUDS.items()
        for name, cloud in by_name.items()
    ]
    failing: dict[str, set[str]] = defaultdict(set)
    for row in known_failures():
        failing[row.provider] |= {row.kind} if row.source else set()
    servers = []
    for name, entry in _DIALECTS["profile"].items():
        other = ", ".join(code(f"{field}: {value}") for field, value in entry.items() if field not in _USUAL)
        asked = [code(entry.get(field)) or "–" for field in ("structured", "output_limit")]
        kinds = ", ".join(sorted(failing[name]))
        servers.append(
            (code(name), entry["base_url"], code(entry.get("key_env")), *asked, other, kinds, str(entry["day"]))
        )
    return page(
        "Providers",
        _READER,
        "the adapters and `dialects.toml`, which names the source of each entry",
        introduction("providers"),
        "## Protocols",
        table(("protocol", "key", "base URL", "usual host"), protocols),
        "## Models at a cloud",
        "The SDK's own client for the cloud reads these variables and signs.",
        table(("protocol", "cloud", "settings of the environment", "what signs requests"), clouds),
        "## Known servers of Chat Completions",
        "They need no entry in a panel file but their key. A dash: as OpenAI has it.",
        table(("provider", "address", "key", "structured", "output limit", "else", "failures known", "day"), servers),
    )


def _groups(*several: Iterable[tuple[str, ...]]) -> str:
    settings, address = several
    said = [" or ".join(map(code, group)) for group in settings]
    said += [" or ".join(["`base_url`", *map(code, group)]) for group in address]
    return ", and ".join(said)


def _signing(cloud: Any) -> str:
    said = [*map(code, (*cloud.keys, *cloud.tokens))]
    extra = f"what the extra `{cloud.packages.extra}` finds" if cloud.packages else "the SDK's own default credentials"
    return ", or ".join([*said, extra])


def metrics() -> str:
    """What Prometheus is shown."""
    rows = [
        (
            code(f"{one.name}{'_total' if one.kind == 'counter' else ''}"),
            one.kind,
            ", ".join(one.labels) or "–",
            one.says,
        )
        for one in METRICS
    ]
    return page(
        "Metrics",
        "operators",
        "the list of metrics",
        "At `/metrics` of `jury serve`, and of `jury run --metrics-port N` ([how](../observability.md)).",
        table(("metric", "kind", "labels", "what it counts"), rows),
    )


def protection() -> list[dict[str, Any]]:
    """What protects each column of a store."""
    rows: list[dict[str, Any]] = tomllib.loads((_TESTS / "reference" / "protection.toml").read_text("utf-8"))["row"]
    return rows


def store_columns() -> str:
    """What protects each column."""
    rows = [(code(one["table"]), ", ".join(map(code, one["columns"])), one["by"]) for one in protection()]
    return page(
        "Columns of a store",
        "auditors",
        "`tests/reference/protection.toml`, which tests compare with the tables",
        introduction("store"),
        table(("table", "columns", "protected by"), rows),
    )
