"""How help is written: names are never broken at a hyphen, and bounds of numbers are in words."""

import re
from collections.abc import Iterable

import click

_WHOLE = "\N{NON-BREAKING HYPHEN}"
"""Stands for a hyphen while lines are broken, so that names of options, presets, formats and files stay whole."""

_MOST = 2**63 - 1
_NUMBER = r"-?\d[\d.e+]*"
_BETWEEN = re.compile(rf"({_NUMBER})(<=?)x(<=?)({_NUMBER})(?=[;\]])")
_BEYOND = re.compile(rf"x(>=?|<=?)({_NUMBER})(?=[;\]])")
_BEYOND_WORDS = {">=": "{} or more", ">": "more than {}", "<=": "at most {}", "<": "less than {}"}


class HelpPage(click.HelpFormatter):
    """The help of a command."""

    def write_text(self, text: str) -> None:
        """A paragraph."""
        super().write_text(text.replace("-", _WHOLE))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Names with their descriptions."""
        super().write_dl([(_named(name), _described(text)) for name, text in rows], col_max, col_spacing)

    def getvalue(self) -> str:
        """The whole page."""
        return super().getvalue().replace(_WHOLE, "-")


class HelpContext(click.Context):
    """The context of a command whose help is a `HelpPage`."""

    formatter_class = HelpPage


def with_help_pages(command: click.Command) -> None:
    """Let a command, and each command of a group, write its help so."""
    command.context_class = HelpContext
    if isinstance(command, click.Group):
        for one in command.commands.values():
            with_help_pages(one)


def _named(name: str) -> str:
    return name.replace("INTEGER RANGE", "INTEGER").replace("FLOAT RANGE", "NUMBER").replace(" FLOAT", " NUMBER")


def _described(text: str) -> str:
    return _BEYOND.sub(_beyond, _BETWEEN.sub(_between, text)).replace("-", _WHOLE)


def _between(found: re.Match[str]) -> str:
    low, above, below, high = found.groups()
    if float(high) >= _MOST:
        return _BEYOND_WORDS[">=" if above == "<=" else ">"].format(_number(low))
    begins = _number(low) if above == "<=" else f"more than {_number(low)}"
    return f"{begins} to {'' if below == '<=' else 'less than '}{_number(high)}"


def _beyond(found: re.Match[str]) -> str:
    return _BEYOND_WORDS[found[1]].format(_number(found[2]))


def _number(text: str) -> str:
    number = float(text)
    return f"{int(number):,}" if number.is_integer() else text
