"""Files of tokens that name their owners, such as the reviewers of `jury serve --reviewers`."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from jury_events.regular_files import line_of, read_failure, read_text
from jury_events.value import Label
from jury_judge.errors import SettingError
from jury_judge.panels.strict_yaml import InvalidYaml, read_yaml

SHORTEST_TOKEN = 16
"""Characters."""

_MOST_BYTES = 1 << 20
_NAMES: TypeAdapter[str] = TypeAdapter(Label)


def is_token(text: object) -> bool:
    """Whether a text can be a token: at least `SHORTEST_TOKEN` printable ASCII characters."""
    return isinstance(text, str) and len(text) >= SHORTEST_TOKEN and text.isascii() and text.isprintable()


def named_tokens(path: Path) -> Mapping[str, str]:
    """The tokens in a YAML file of lines `NAME: TOKEN`, by name.

    Raises:
        SettingError: the file cannot be read, names no reviewer, or has a bad name or token, or one token twice. The
            message names the file and the line, never a token.
    """
    try:
        document = read_yaml(read_text(path, _MOST_BYTES))
    except UnicodeDecodeError as error:
        raise SettingError(f"{path}:{line_of(error)}: not UTF-8") from None
    except (OSError, ValueError) as error:
        if isinstance(error, InvalidYaml):
            # The message of a parser may quote the line, which has a token.
            place = path if error.line is None else f"{path}:{error.line}"
            raise SettingError(f"{place}: not YAML; write one line NAME: TOKEN for each person") from None
        raise SettingError(f"{path}: {read_failure(error)}") from None
    if not isinstance(document.data, dict) or not document.data:
        raise SettingError(f"{path}: names no reviewer; write one line NAME: TOKEN for each person")
    owners: dict[str, str] = {}
    for name, token in document.data.items():
        place = f"{path}:{document.line([name])}"
        try:
            _NAMES.validate_python(name)
        except ValidationError:
            raise SettingError(f"{place}: a name has 1 to 300 printable characters; put digits in quotes") from None
        if not is_token(token):
            raise SettingError(
                f"{place}: the token of {name} needs at least {SHORTEST_TOKEN} printable ASCII characters; "
                "put one of digits alone in quotes"
            )
        if token in owners:
            raise SettingError(f"{place}: {name} and {owners[token]} have the same token; give each their own")
        owners[token] = name
    return {name: token for token, name in owners.items()}
