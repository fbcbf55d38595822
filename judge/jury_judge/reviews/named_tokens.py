"""Files of tokens that name their owners, such as the reviewers of `jury serve --reviewers`."""

from collections.abc import Mapping
from pathlib import Path

from jury_events.errors import SettingError
from jury_events.regular_files import line_of, read_failure, read_text
from jury_judge.errors import SettingsRefused, escaped
from jury_judge.panels.document import InvalidYaml, read_yaml
from jury_judge.settings.reviewing import RULE, is_reviewer_name

_SHORTEST = 16
TOKEN_RULE = f"at least {_SHORTEST} printable ASCII characters, and no blank at either end"
"""Requests and the login page send a token without blanks at its ends."""

_MOST_BYTES = 1 << 20


def is_token(text: object) -> bool:
    """Whether a text can be a token, by `TOKEN_RULE`."""
    if not isinstance(text, str):
        return False
    return len(text) >= _SHORTEST and text.isascii() and text.isprintable() and text == text.strip()


def check_token(token: str | None) -> None:
    """Refuse the token of a server that cannot be one."""
    if token is not None and not is_token(token):
        raise SettingsRefused(f"{{token}}: {escaped(TOKEN_RULE)}", usage=False)


def named_tokens(path: Path) -> Mapping[str, str]:
    """The tokens in a YAML file of lines `NAME: TOKEN`, by name."""
    try:
        document = read_yaml(read_text(path, _MOST_BYTES))
    except UnicodeDecodeError as error:
        raise SettingError(f"{path}:{line_of(error)}: not UTF-8") from None
    except (OSError, ValueError) as error:
        if isinstance(error, InvalidYaml):
            # The message of a parser may quote the line, which has a token.
            raise SettingError(
                f"{_place(path, error.line)}: not YAML; write one line NAME: TOKEN for each person"
            ) from None
        raise SettingError(f"{path}: {read_failure(error)}") from None
    if not isinstance(document.data, dict) or not document.data:
        raise SettingError(f"{path}: names no reviewer; write one line NAME: TOKEN for each person")
    owners: dict[str, str] = {}
    for name, token in document.data.items():
        place = _place(path, document.line([name]))
        if not isinstance(name, str):
            # It is not quoted: who puts the token first would find it in the message.
            raise SettingError(f"{place}: YAML reads a name as no text, such as no or 12; put it in quotes")
        if not is_reviewer_name(name):
            raise SettingError(f"{place}: {RULE}")
        if not is_token(token):
            raise SettingError(f"{place}: the token of {name} needs {TOKEN_RULE}; put one of digits alone in quotes")
        if token in owners:
            raise SettingError(f"{place}: {name} and {owners[token]} have the same token; give each their own")
        owners[token] = name
    return {name: token for token, name in owners.items()}


def _place(path: Path, line: int | None) -> str:
    return str(path) if line is None else f"{path}:{line}"
