"""The headers that an SDK would add to every request from the environment, to whichever host."""

from collections.abc import Iterable, Mapping

_NAMES = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}
"""Of variables with the value of one header; the others have lines `Name: value`, as the SDKs read them."""


def environment_headers(variables: Iterable[str], environ: Mapping[str, str]) -> tuple[str, ...]:
    """The names of these headers, as the variables write them."""
    found: list[str] = []
    for variable in variables:
        value = environ.get(variable)
        if value is None:
            continue
        if variable in _NAMES:
            found.append(_NAMES[variable])
        else:
            found += [line.partition(":")[0].strip() for line in value.split("\n") if ":" in line]
    return tuple(dict.fromkeys(found))
