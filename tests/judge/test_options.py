"""The options of the command and the page of settings are made of the models; `pytest --update` writes them."""

import json
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from jury_judge import RunSettings, SettingsModel, SimulationSettings, table_text

ROOT = Path(__file__).parents[2]
OPTIONS = ROOT / "cli" / "jury_cli" / "options.json"
PAGE = ROOT / "docs" / "reference" / "settings.md"
HEAD = """# Settings

*Reference, for people who write settings files.* Made from the settings; `pytest --update tests/judge/test_options.py`
writes it.

Every setting is declared once, and an option of the command, a line of a settings file and an argument in Python give
it: `--max-cost 5`, `max_cost: 5` and `max_cost=5`. Models that extend others have their settings too.
"""


def models() -> list[type[SettingsModel]]:
    """All that declare options."""
    settings = import_module(RunSettings.__module__.rpartition(".")[0])
    for one in pkgutil.iter_modules(settings.__path__, f"{settings.__name__}."):
        import_module(one.name)
    found, waiting = [SimulationSettings], [SettingsModel]
    while waiting:
        waiting += (below := waiting.pop().__subclasses__())
        found += below
    return [one for one in found if one.__module__.startswith("jury_")]


def test_the_options_of_the_command_are_those_of_the_models(request: pytest.FixtureRequest) -> None:
    text = table_text(sorted(set(models()), key=lambda one: one.__name__))
    page = HEAD + "".join(described(json.loads(text)))
    if request.config.getoption("update"):
        OPTIONS.write_text(text, encoding="utf-8")
        PAGE.write_text(page, encoding="utf-8")

    assert text == OPTIONS.read_text(encoding="utf-8"), "write it with pytest --update"
    assert page == PAGE.read_text(encoding="utf-8"), "write it with pytest --update"


def described(table: dict[str, dict[str, Any]]) -> Iterator[str]:
    with_rows = {model for model, rows in table.items() if any(name and row for name, row in rows.items())}
    for model, rows in table.items():
        shown = {name: row for name, row in rows.items() if name and row}
        if not shown:
            continue
        above = [f"[{one}](#{one.lower()})" if one in with_rows else one for one in rows[""] or ()]
        extends = f"\n\nExtends {', '.join(above)}." if above else ""
        yield f"\n## {model}{extends}\n\n| field | option | default | meaning |\n| --- | --- | --- | --- |\n"
        for name, row in shown.items():
            default = "" if row.get("default") is None else f"`{row['default']}`"
            option = f"{row['option']} {row.get('metavar', '')}".strip()
            yield f"| `{name}` | `{option}` | {default} | {row['help'].replace('|', chr(92) + '|')} |\n"
