"""What pydantic refuses, in one line."""

from pydantic import ValidationError


def condensed(error: ValidationError) -> str:
    """The first complaint of pydantic in one line, `field: message`; the refused value is left out."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message
