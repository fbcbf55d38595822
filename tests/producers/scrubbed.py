"""Removes what tells of the machine from what a tool wrote. Standard library only."""

import json
import re
from typing import Any

_FOLDER = re.compile(r"(?:/(?!home/user)[\w.@+-]+)+/([\w.@+-]+\.(?:py|db|json))|(?:/(?:tmp|root))(?:/[\w.@+-]+)*")
_PLATFORM = re.compile(r'"Linux-[\w.+-]+"')


def scrubbed(value: Any) -> Any:
    """The JSON value with every path in `/home/user`, and without the name of the system."""
    text = json.dumps(value, ensure_ascii=False)
    text = _FOLDER.sub(lambda found: f"/home/user/{found.group(1) or ''}".rstrip("/"), text)
    return json.loads(_PLATFORM.sub('"Linux"', text))
