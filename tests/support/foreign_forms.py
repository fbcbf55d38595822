"""Tables of what other systems write, and what jurors are shown of it: `tests/judge/forms/*.json`."""

import json
from pathlib import Path
from typing import Any, NamedTuple

_FOLDER = Path(__file__).parents[1] / "judge" / "forms"


class Form(NamedTuple):
    """What stands in a record, and each item that is shown of it, as texts."""

    form: Any
    shown: list[tuple[str, ...]]


def forms(table: str) -> dict[str, Form]:
    """The rows of a table by name."""
    rows = json.loads((_FOLDER / f"{table}.json").read_text(encoding="utf-8"))
    return {name: Form(row["form"], [tuple(one) for one in row["shown"]]) for name, row in rows.items()}
