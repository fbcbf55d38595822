"""Messages of pydantic, as people read them."""

import re


def readable_message(message: str) -> str:
    """A message of pydantic, without its prefixes and with YAML's words for Python's types."""
    message = message.replace("Value error, ", "", 1)
    message = message.replace("Extra inputs are not permitted", "there is no such field", 1)
    message = re.sub(r"a valid dictionary( or instance of \w+)?", "a table of fields", message, count=1)
    return re.sub(r"a valid (tuple|list)", "a list", message, count=1)
