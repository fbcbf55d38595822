"""Options that several commands share."""

import math
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jury_cli.option_groups import Options
from jury_events.ids import is_debate_id, is_run_id, reachable
from jury_events.text import visible_line
from jury_judge.settings.store import load_settings

if TYPE_CHECKING:
    from jury_events.conditions import Condition

PRESETS = ("parallel-rounds", "adk-sequential", "independent")
"""Those of `jury_debate`, which help does not import."""

_MOST_PROCESSES = 64
_ADDRESS = re.compile(r"[^\s:]+:[0-9]{1,5}")

STORE: Options = (
    click.option(
        "--store",
        "store_url",
        metavar="URL",
        help="sqlite:///PATH or postgresql://USER@HOST/DB. [default: $JURY_STORE_URL, else sqlite:///jury.db]",
    ),
)
"""`--store URL`."""


def resolved_store(store_url: str | None) -> str:
    """The URL given, else that of the environment, else the default."""
    return load_settings(os.environ, store_url=store_url).store_url


def pairs(_context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """`NAME=VALUE` options as a table."""
    table: dict[str, str] = {}
    for value in values:
        name, equals, rest = value.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{value!r} is not NAME=VALUE", param=parameter)
        if name in table:
            raise click.BadParameter(f"{name} is given twice", param=parameter)
        table[name] = rest
    return table


def run_id(_context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """A run's id, which is part of its debates' ids."""
    if value is not None and not is_run_id(value):
        raise click.BadParameter(
            f"{value!r} cannot name a run; use 1 to 100 letters, digits, dots, hyphens, underscores", param=parameter
        )
    return value


def new_run_id(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """A run's id as `run_id`, for a run that may not be there yet."""
    _check_reachable(parameter, value)
    return run_id(context, parameter, value)


def debate_ids(_context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """One debate's id, or several."""
    checked_debate_ids([value] if isinstance(value, str) else value, parameter)
    return value


def checked_debate_ids(names: Sequence[str], parameter: click.Parameter | None = None) -> tuple[str, ...]:
    """The names, which must be ids of debates."""
    for one in names:
        if not is_debate_id(one):
            raise click.BadParameter(
                f"{one!r} is not the id of a debate; `jury list` lists the debates", param=parameter
            )
    return tuple(names)


def new_debate_id(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """A debate's id, for one that is not there yet."""
    _check_reachable(parameter, value)
    return None if value is None else debate_ids(context, parameter, value)


def _check_reachable(parameter: click.Parameter, value: str | None) -> None:
    if value is not None and not reachable(value):
        raise click.BadParameter(
            f"{value!r} cannot be an id: it is a step in a path, and leads to no page; use another", param=parameter
        )


def _threshold(_context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    from jury_judge.settings.judging import usable_threshold

    try:
        return None if value is None else usable_threshold(value)
    except ValueError as error:
        raise click.BadParameter(str(error), param=parameter) from None


def _address(_context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not _ADDRESS.fullmatch(value):
        raise click.BadParameter(f"{value!r} is not HOST:PORT", param=parameter)
    return value


def ray_address(says: str) -> Options:
    """`--ray-address HOST:PORT`; `says` is its help."""
    return (click.option("--ray-address", metavar="HOST:PORT", callback=_address, help=says),)


def _processes(_context: click.Context, _parameter: click.Parameter, value: str) -> int | None:
    """A number, or None for `auto`."""
    if value == "auto":
        return None
    if value.isascii() and value.isdigit() and 1 <= int(value) <= _MOST_PROCESSES:
        return int(value)
    raise click.BadParameter(f"must be auto, or a number from 1 to {_MOST_PROCESSES}, not {visible_line(value, 40)!r}")


OPEN_CLUSTER: Options = (
    click.option(
        "--ray-open-cluster",
        is_flag=True,
        help="Join it even if it requires no token. Anyone who reaches its ports can then run code in the "
        "jurors' processes, and read keys and cases there.",
    ),
)
"""`--ray-open-cluster`, with `--ray-address`."""


PROCESSES_ON_RAY: Options = (
    click.option(
        "--replicas",
        metavar="N|auto",
        default="auto",
        show_default=True,
        callback=_processes,
        help="Juror processes a seat on Ray; auto: as many as the cluster's CPUs can serve, while nodes join and "
        "leave.",
    ),
    click.option(
        "--coordinators",
        metavar="N|auto",
        default="auto",
        show_default=True,
        callback=_processes,
        help="Processes that share the debates on Ray; auto: as many as the CPUs can use when it starts "
        "(docs/capacity.md).",
    ),
)
"""How many processes on Ray: `--replicas`, `--coordinators`."""


RUNTIME: Options = (
    click.option("--in-process", is_flag=True, help="Run the debates in this process, without Ray."),
    click.option(
        "--ray",
        is_flag=True,
        help="Run the debates on a local Ray cluster. [default for jury demo, and for jury run from 10,000 debates on "
        "with four CPUs or more]",
    ),
    *ray_address("Join this Ray cluster instead of a local one; it must ask for a token (docs/ray.md)."),
    *OPEN_CLUSTER,
    *PROCESSES_ON_RAY,
    click.option(
        "--simulate",
        metavar="KEY=VALUE",
        multiple=True,
        callback=pairs,
        help="Latency and faults of simulated jurors: latency (mean seconds), sigma, seed, the rate of an "
        "outcome such as timeout=0.05, unparseable=0.1, or answers=scripted (fixed answers). Repeatable.",
    ),
)
"""Where debates run: `--in-process`, `--ray…`, `--replicas`, `--coordinators`, `--simulate`."""


def finite(_context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    if value is not None and math.isnan(value):
        raise click.BadParameter("nan is not a number", param=parameter)
    return value


PATIENCE: Options = (
    click.option(
        "--store-patience",
        metavar="SECONDS",
        type=click.FloatRange(min=0, max=86_400),
        default=60.0,
        show_default=True,
        callback=finite,
        help="If the store cannot be written, keep the answers of models in memory and try again for so long.",
    ),
)
"""`--store-patience`: how long a failing store is tried again."""


KEYS: Options = (
    click.option(
        "--adopt",
        metavar="FILE",
        multiple=True,
        type=click.Path(path_type=Path),
        help="Count imported debates of the run whose seals are signed by a public key of this file. Repeatable.",
    ),
    click.option(
        "--trust",
        metavar="FILE",
        multiple=True,
        type=click.Path(path_type=Path),
        help="Apply the panel's calibration only if a public key of this file signed it. Repeatable.",
    ),
)
"""Files of public keys whose signatures count: `--adopt`, `--trust`."""

BUDGET: Options = (
    click.option(
        "--max-cost",
        type=click.FloatRange(min=0, max=1e9),
        metavar="USD",
        callback=finite,
        help="US dollars at most, over all sessions of the run.",
    ),
    click.option("--max-calls", type=click.IntRange(min=0), help="Model calls at most, over all sessions of the run."),
    click.option("--prices", metavar="FILE", help="Prices of models (TOML), before the list prices. [$JURY_PRICES]"),
)
"""The budget of a run: `--max-cost`, `--max-calls`, `--prices`."""


BATCHES: Options = (
    click.option("--batch", is_flag=True, help="Make calls in batches, at half price (docs/batches.md)."),
    click.option("--once", is_flag=True, help="With --batch: make one pass, for cron; exit with 4 while calls wait."),
    click.option(
        "--batch-deadline",
        type=click.FloatRange(min=0, max=672, min_open=True),
        default=26.0,
        show_default=True,
        metavar="HOURS",
        help="After this a provider is asked to cancel a batch, if it says that it has not ended.",
    ),
    click.option("--batch-same-account", is_flag=True, help="A new API key is of the account that has the batches."),
)
"""Calls in batches: `--batch` and what it takes."""


def _panel(default: str) -> Callable[[Any], Any]:
    return click.option(
        "--panel",
        "panel_name",
        metavar="FILE|NAME",
        help="A panel file, a jury of models (current, documents), or rules with simulated jurors (parallel-rounds, "
        f"adk-sequential, independent). [default: {default}]",
    )


_CHANGES: Options = (
    click.option("--language", type=click.Choice(["en", "ja"]), help="Language of the prompts."),
    click.option(
        "--preset",
        type=click.Choice(PRESETS),
        help="The rules of the discussion, with any jurors.",
    ),
    click.option("--max-rounds", type=click.IntRange(0, 100), help="Discussion rounds at most."),
    click.option(
        "--threshold",
        type=float,
        callback=_threshold,
        help="Consensus threshold: 2.0 always discusses, 0.67 accepts 2 of 3.",
    ),
    click.option(
        "--method",
        type=click.Choice(["majority_vote", "weighted_average", "median", "final_judge"]),
        help="How the final judgment is made.",
    ),
    click.option("--judge-model", metavar="PROVIDER/MODEL", help="The final judge."),
)

_MODELS = click.option(
    "--model",
    "seat_models",
    metavar="MODEL",
    multiple=True,
    help="Seat a jury on this model, as claude-haiku-5-5; repeated, on several. The first judges last.",
)

PANEL: Options = (_panel("parallel-rounds"), _MODELS, *_CHANGES)
"""The panel: `--panel` or `--model`, and the options that override it."""

PANEL_OF_BRANCH: Options = (_panel("that of the debate"), *_CHANGES)
"""The same for a branch of a debate."""


class _Conditions:
    """Parses the conditions of an option; `recorded` as in `parse_condition`."""

    def __init__(self, *, recorded: bool) -> None:
        self._recorded = recorded

    def __call__(
        self, _context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]
    ) -> "tuple[Condition, ...]":
        from jury_events.conditions import parse_conditions
        from jury_events.errors import BadCondition

        try:
            return parse_conditions(texts, recorded=self._recorded)
        except BadCondition as error:
            raise click.BadParameter(visible_line(str(error), 1000), param=parameter) from None


def _field(_context: click.Context, parameter: click.Parameter, text: str | None) -> str | None:
    from jury_events.conditions import parse_field
    from jury_events.errors import BadCondition

    try:
        return None if text is None else parse_field(text)
    except BadCondition as error:
        raise click.BadParameter(visible_line(str(error), 1000), param=parameter) from None


WHERE: Options = (
    click.option(
        "--where",
        metavar="COND",
        multiple=True,
        callback=_Conditions(recorded=False),
        help="Only where this holds of the case: FIELD=VALUE, !=, ~ (contains) or !~, as tags~refund or "
        "metadata.level=3 (docs/filtering.md). Repeatable: all must be met.",
    ),
)
"""`--where COND`, repeatable, as parsed conditions."""

WHERE_RECORDED: Options = (
    click.option(
        "--where",
        metavar="COND",
        multiple=True,
        callback=_Conditions(recorded=True),
        help="Only where this holds of the case or the quotations: FIELD=VALUE, !=, ~ (contains) or !~, as "
        "tags~refund, metadata.level=3 or evidence=not_found (docs/filtering.md). Repeatable: all must be met.",
    ),
)
"""The same where debates of a store are chosen: by their evidence too."""


GROUP: Options = (
    click.option(
        "--group-by",
        metavar="FIELD",
        callback=_field,
        help="Count by tags, cluster, label, case_id or metadata.NAME instead: verdicts, mean score, agreement with "
        "labels. A debate with several tags counts in each.",
    ),
)
"""`--group-by FIELD`."""


_SELECTION: Options = (
    click.argument("debate_ids", metavar="[DEBATE]...", nargs=-1, callback=debate_ids),
    click.option("--run", "run_id", metavar="ID", callback=run_id, help="The debates of this run."),
    click.option("--all", "everything", is_flag=True, help="Every debate of the store."),
)

SELECTION: Options = (*_SELECTION, *WHERE_RECORDED)
"""Which debates: `[DEBATE]...`, `--run ID` or `--all`, and `--where COND`; `Selection` has the rules between them."""

SELECTION_OPENING: Options = (*_SELECTION, *WHERE)
"""The same for debates that may only be opening: they are chosen by their cases alone."""


PROCESSES: Options = (
    click.option(
        "--processes", type=click.IntRange(1, 256), metavar="N", help="Processes that work. [default: one a core]"
    ),
)
"""`--processes N`."""


PUBLIC_KEYS: Options = (
    click.option(
        "--key",
        "keys",
        metavar="FILE",
        multiple=True,
        type=click.Path(path_type=Path),
        help="Public keys, one a line (`jury seal keygen`), whose signatures of seals are trusted. Repeatable.",
    ),
)
"""`--key FILE`, of public keys."""


SEAL_LAST: Options = (
    click.option(
        "--seal-last",
        metavar="FILE",
        type=click.Path(path_type=Path),
        envvar="JURY_SEAL_LAST",
        help="The file of the private key's last signature. [default: $JURY_SEAL_LAST, else KEY.last beside it]",
    ),
)
"""`--seal-last FILE`."""


SEALS: Options = (
    click.option(
        "--seal-key",
        metavar="FILE",
        type=click.Path(path_type=Path),
        envvar="JURY_SEAL_KEY",
        help="Seal the log with this private key (`jury seal keygen`). [$JURY_SEAL_KEY]",
    ),
    *SEAL_LAST,
    click.option(
        "--seal-every",
        type=click.FloatRange(min=0.1, max=86_400),
        default=60.0,
        show_default=True,
        metavar="SECONDS",
        help="How often the log is sealed during the run; once more at its end.",
    ),
)
"""Sealing during a run: `--seal-key`, `--seal-last`, `--seal-every`."""
