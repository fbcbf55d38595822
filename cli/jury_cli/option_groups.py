"""The options of a command, and their help in groups with headings.

Options that few need are shown by `--help-all` alone; they work like all others.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click

from jury_events.errors import SettingError, Worded

F = TypeVar("F", bound=Callable[..., Any])

Options = tuple[Callable[[Any], Any], ...]
"""Options and arguments (`click.option(…)`, `click.argument(…)`), in the order in which help shows them."""

_OTHERS = "Other options"
_ALL = "jury.help-all"
"""The key under which a context says that all options are shown."""


def options(*lists: Options) -> Callable[[F], F]:
    """Give a command the options of these lists, in their order."""

    def decorate(command: F) -> F:
        for listed in reversed(lists):
            for option in reversed(listed):
                command = option(command)
        return command

    return decorate


def _show_all(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        context.meta[_ALL] = True
        click.echo(context.get_help())
        context.exit()


_HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_all,
    help="Show this message with every option, and exit.",
)


class ListedOption(click.Option):
    """An option with its heading in help, and whether only `--help-all` shows it."""

    def __init__(self, *names: Any, group: str = "", rare: bool = False, **more: Any) -> None:
        super().__init__(*names, **more)
        self.group = group
        self.rare = rare


class GroupedCommand(click.Command):
    """A command whose help shows options in groups; options in no group are under the last heading.

    Args:
        headings: of the groups, in the order in which they are shown; others follow them.
        ending: the last paragraph of the help that shows every option, made when it is shown; None: there is none.
        more: everything that a command takes.
    """

    def __init__(self, *, headings: Sequence[str] = (), ending: Callable[[], str] | None = None, **more: Any) -> None:
        super().__init__(**more)
        self._ending = ending
        self._headings = headings
        self._rare = frozenset(one.name for one in self.params if isinstance(one, ListedOption) and one.rare)
        if self._rare:
            self.params.append(_HELP_ALL)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The last paragraph."""
        super().format_epilog(ctx, formatter)
        if self._ending is not None and (_ALL in ctx.meta or not self._rare):
            formatter.write_paragraph()
            formatter.write_text(self._ending())

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A section a group."""
        left_out = frozenset() if _ALL in ctx.meta else self._rare
        groups: dict[str, list[tuple[str, str]]] = {heading: [] for heading in self._headings}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is None or parameter.name in left_out:
                continue
            groups.setdefault(getattr(parameter, "group", ""), []).append(record)
        others = groups.pop("", [])
        for heading, records in (*groups.items(), (_OTHERS, others)):
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)
        if left_out:
            formatter.write_paragraph()
            formatter.write_text(
                f"{len(left_out)} more options are not shown here: {ctx.command_path} --help-all shows all."
            )


def grouped(
    name: str, *headings: str, ending: Callable[[], str] | None = None
) -> Callable[[Callable[..., Any]], GroupedCommand]:
    """`click.command(name)` with these groups first. See `GroupedCommand`."""
    return click.command(name, cls=GroupedCommand, headings=headings, ending=ending)


_WHOLE = "\N{NON-BREAKING HYPHEN}"
"""Stands for a hyphen while lines are broken, so that names of options, presets, formats and files stay whole."""

_MOST = 2**63 - 1
_NUMBER = r"-?\d[\d.e+]*"
_BETWEEN = re.compile(rf"({_NUMBER})(<=?)x(<=?)({_NUMBER})(?=[;\]])")
_BEYOND = re.compile(rf"x(>=?|<=?)({_NUMBER})(?=[;\]])")
_BEYOND_WORDS = {">=": "{} or more", ">": "more than {}", "<=": "at most {}", "<": "less than {}"}


class _HelpPage(click.HelpFormatter):
    """The help of a command."""

    def write_text(self, text: str) -> None:
        super().write_text(text.replace("-", _WHOLE))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Names with their descriptions."""
        super().write_dl([(_named(name), _described(text)) for name, text in rows], col_max, col_spacing)

    def getvalue(self) -> str:
        return super().getvalue().replace(_WHOLE, "-")


class CommandContext(click.Context):
    """The context of a command: its help is a page of this form, and refused settings are named as its options."""

    formatter_class = _HelpPage

    def invoke(self, callback: Any, /, *args: Any, **options: Any) -> Any:
        """Call the command."""
        try:
            return super().invoke(callback, *args, **options)
        except Worded as error:
            said = error.worded(self._option_name)
            raise (click.UsageError(said, self) if error.usage else SettingError(said)) from error

    def _option_name(self, field: str) -> str:
        """The option that gives a field of settings: `--run` gives `run_id`."""
        for parameter in self.command.params:
            if parameter.name == field and isinstance(parameter, click.Option):
                return max(parameter.opts, key=len)
        return "--" + field.replace("_", "-")


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
