"""A whole row of each format, as its tool exports it: `tests/cases/rows/<format>.json`."""

import base64
import json
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parents[1] / "cases" / "rows"
FORMATS = tuple(sorted(path.stem for path in _FOLDER.iterdir()))

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PNG_BASE64 = base64.b64encode(PNG).decode()
PNG_URL = f"data:image/png;base64,{PNG_BASE64}"


def whole_row(name: str) -> Any:
    """The row of a format."""
    return json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
