"""Options about what can be observed while a command runs: `--log-format`, `--metrics-port`, `--otel`."""

from contextlib import AbstractAsyncContextManager, nullcontext
from secrets import token_urlsafe
from typing import TYPE_CHECKING

import click

from jury_cli.option_groups import Options
from jury_cli.options import option
from jury_cli.streams import FORMAT, FORMATS, LEVEL, note, set_format
from jury_judge.log_lines import DEFAULT_LEVEL, LEVELS, set_level

if TYPE_CHECKING:
    from jury_judge import MetricTotals
    from jury_judge.settings.serving import ListeningSettings
    from jury_web.serving import MetricsEndpoint

LOOPBACK = "127.0.0.1"
TOKEN = "JURY_SERVE_TOKEN"  # noqa: S105  (a variable's name)


_OBSERVED = "What can be observed"

LOG_LINES: Options = (
    option(
        "--log-format",
        group=_OBSERVED,
        rare=True,
        type=click.Choice(FORMATS),
        callback=lambda _context, _option, value: None if value is None else set_format(value),
        is_eager=True,
        expose_value=False,
        help=f"Lines on stderr: text, or a JSON object each, with those of all actors (docs/observability.md).  "
        f"[default: ${FORMAT}, else text]",
    ),
    option(
        "--log-level",
        group=_OBSERVED,
        rare=True,
        type=click.Choice(LEVELS),
        callback=lambda _context, _option, value: None if value is None else set_level(value),
        is_eager=True,
        expose_value=False,
        help=f"The lowest level of --log-format json.  [default: ${LEVEL}, else {DEFAULT_LEVEL}]",
    ),
)
"""`--log-format`, `--log-level`: in force from the moment that they are read, also for usage errors."""


METRICS: Options = (
    option(
        "--metrics-port",
        group=_OBSERVED,
        rare=True,
        type=click.IntRange(0, 65535),
        help="Serve metrics for Prometheus at /metrics while the command runs; 0: any port that is free.",
    ),
    option(
        "--metrics-host",
        group=_OBSERVED,
        rare=True,
        metavar="ADDRESS",
        default=LOOPBACK,
        show_default=True,
        help=f"The address of --metrics-port; off loopback requests need the token ${TOKEN}.",
    ),
)
"""`--metrics-port`, `--metrics-host`."""


class MetricsServer:
    """What `--metrics-port` asks for; nothing without it.

    Args:
        port: None: no metrics.
        host: the address.
        token: that requests must have; None on loopback only.
    """

    totals: "MetricTotals | None" = None
    _endpoint: "MetricsEndpoint | None" = None

    def __init__(self, port: int | None, host: str, token: str | None) -> None:
        if port is None:
            return
        from jury_events.errors import SettingError
        from jury_judge import MetricTotals
        from jury_judge.reviews.named_tokens import TOKEN_RULE, is_token
        from jury_web.serving import MetricsEndpoint

        if token is not None and not is_token(token):
            raise SettingError(f"${TOKEN}: {TOKEN_RULE}")
        self._endpoint = MetricsEndpoint.listening(host, port, token)
        if token is None and not self._endpoint.address.loopback:
            self.close()
            raise SettingError(
                f"--metrics-host {host}: other machines reach it; set ${TOKEN}, which requests then need"
            )
        self.totals = MetricTotals()
        note(f"metrics: {self._endpoint.url}")

    def serving(self) -> AbstractAsyncContextManager[None]:
        """Serve while the context lasts."""
        if self._endpoint is None or self.totals is None:
            return nullcontext()
        return self._endpoint.serving(self.totals)

    def close(self) -> None:
        """Stop listening, also where it never served."""
        if self._endpoint is not None:
            self._endpoint.listener.close()


def token_of(settings: "ListeningSettings", *, needed: bool) -> str | None:
    """The token that requests need; one that is needed and not given is generated and printed."""
    if settings.token is not None or not needed:
        return settings.token
    token = token_urlsafe(32)
    note(f"token: {token}   (printed once; --token or ${TOKEN} sets one)")
    return token
