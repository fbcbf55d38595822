"""What a server of a store serves, where it listens, and which requests it takes."""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from jury_actors.store_retry import STORE_PATIENCE
from jury_events.text import visible_line
from jury_judge.errors import SettingsRefused
from jury_judge.settings.fields import DRIFT_CHECK, Age, Stored, checked_run_id
from jury_judge.settings.judging import Address, Budget, ClusterSettings, PanelSettings, Simulation
from jury_judge.settings.run import PATIENCE, TRACES, RunSettings
from jury_judge.settings_model import Option, SettingsModel
from jury_providers.simulated.script import NO_FAULTS

_ROOT = re.compile(r"(/[A-Za-z0-9._~-]{1,100}){0,10}")
_NAME = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]{1,253})(:[0-9]{1,5})?")
_PORT = Option(help="0: any that is free.", group="Where it listens")
Port = Annotated[int, Field(ge=0, le=65_535), _PORT]


def _name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ValueError(f"{visible_line(value, 300)!r} is not NAME or NAME:PORT")
    return value.lower()


_listens = partial(Option, group="Where it listens")
_serves = partial(Option, group="What it serves")
_reviews = partial(Option, group="Reviews")


class ListeningSettings(SettingsModel):
    """The settings of every server of a store. On loopback no token is needed without one."""

    host: Annotated[str, _listens(help="The address to listen at.")] = "127.0.0.1"
    port: Port
    hosts: Annotated[
        tuple[Annotated[str, AfterValidator(_name)], ...],
        _listens(
            help="A further name by which clients reach this server, as behind a proxy. Repeatable.",
            name="--allow-host",
            metavar="NAME[:PORT]",
        ),
    ] = ()
    token: Annotated[
        str | None,
        _listens(
            help="The token that requests need. Off loopback one is generated and printed by default. "
            "[$JURY_SERVE_TOKEN]",
            metavar="TOKEN",
            environ="JURY_SERVE_TOKEN",
        ),
    ] = None


class ServeSettings(ListeningSettings, ClusterSettings, Stored):
    """What a server serves to whom, and where it judges what is submitted. With reviewers requests always need a token.

    The first of `panels` is the default. `root_path` is that of a proxy below which clients reach the server.
    """

    panels: Annotated[
        tuple[str, ...],
        _serves(
            help="Judge requests under this panel: a panel file (requests call it by its name without suffix), a jury "
            "or a preset, as of `jury run`. Repeatable; the first is the default. [default: parallel-rounds, simulated "
            "jurors]",
            name="--panel",
            metavar="FILE|NAME",
        ),
    ] = ()
    read_only: Annotated[bool, _serves(help="Show debates; judge nothing.")] = False
    port: Port = 8765
    readers: Annotated[int, Field(ge=1, le=100_000), _serves(help="Live readers at most.")] = 1000
    concurrency: Annotated[int, Field(ge=1, le=10_000), _serves(help="Debates at once.")] = 64
    simulate: Annotated[Simulation, _serves(help="As of `jury run`.", metavar="KEY=VALUE")] = NO_FAULTS
    require_drift_check: Annotated[Age | None, replace(DRIFT_CHECK, group="What it serves")] = None
    reviewers_file: Annotated[
        Path | None,
        _reviews(
            help="A YAML file of lines `NAME: TOKEN`: these people review debates at /reviews, each with their token, "
            "and the server asks for a token on loopback too. Without it, reviewing over the network is off.",
            name="--reviewers",
            metavar="FILE",
        ),
    ] = None
    reviewer: Annotated[
        str | None,
        _reviews(
            help="You alone review at /reviews, on this machine, without a token: every request of this server is "
            "yours.",
            metavar="NAME",
        ),
    ] = None
    open_reviews: Annotated[
        bool,
        _reviews(help="Show reviewers the jury's words before their verdict; their reviews are not blind."),
    ] = False
    webhook: Annotated[
        str | None,
        _reviews(
            help="Post a signed message to this URL when a debate waits for a person, or a drift check found something "
            "(docs/reviews.md).",
            name="--on-review-needed",
            metavar="URL",
        ),
    ] = None
    secret_file: Annotated[
        Path | None,
        _reviews(
            help="A file with the secret that signs these messages, whsec_…  [default: $JURY_WEBHOOK_SECRET]",
            name="--webhook-secret",
            metavar="FILE",
        ),
    ] = None
    deliveries_file: Annotated[
        Path | None,
        _reviews(
            help="The record of these messages.  [default: beside the SQLite file]", name="--deliveries", metavar="FILE"
        ),
    ] = None
    root_path: Annotated[
        str,
        _listens(
            help="The path of the proxy below which clients reach this server, as /jury. It may pass the path on, or "
            "take it off.",
            metavar="PATH",
        ),
    ] = ""
    otel: Annotated[bool, TRACES] = False
    ray_address: Annotated[
        Address | None,
        Option(
            group="Where debates run",
            help="Judge on this Ray cluster instead of in this process; it must ask for a token (docs/ray.md).",
            metavar="HOST:PORT",
        ),
    ] = None
    store_patience: Annotated[float, Field(ge=0, le=86_400), PATIENCE] = STORE_PATIENCE

    def model_post_init(self, context: Any) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        if self.read_only and self.ray_address is not None:
            raise SettingsRefused("{read_only} judges nothing; leave {ray_address} out")
        if self.ray_address is None and (self.replicas, self.coordinators) != (None, None):
            raise SettingsRefused("{replicas} and {coordinators} are about {ray_address} HOST:PORT; give it too")
        if self.read_only and self.panels:
            raise SettingsRefused("{read_only} judges nothing; leave {panels} out")
        self._check_reviewers()
        if not _ROOT.fullmatch(self.root_path):
            raise SettingsRefused("{root_path}: a path without a slash at its end, as /jury or /tools/jury")
        if self.webhook is None and (self.secret_file or self.deliveries_file) is not None:
            raise SettingsRefused("{secret_file} and {deliveries_file} are about {webhook} URL; give it too")

    def _check_reviewers(self) -> None:
        for name in ("reviewers_file", "reviewer"):
            if self.read_only and getattr(self, name) is not None:
                raise SettingsRefused(f"{{read_only}} writes nothing; leave {{{name}}} out")
        if self.reviewer is not None and (self.reviewers_file, self.token) != (None, None):
            raise SettingsRefused("{reviewer} is one person, without a token; leave {reviewers_file} and {token} out")
        if self.open_reviews and (self.reviewers_file, self.reviewer) == (None, None):
            raise SettingsRefused("{open_reviews} is about {reviewer} NAME or {reviewers_file} FILE; give one too")


_OF_JUDGING = (*PanelSettings.model_fields, *Budget.file_names(), "simulate", "require_drift_check")
_OF_HTTP = ("host", "port", "hosts")


_judged = partial(Option, group="Jurors and rules")


class McpSettings(ListeningSettings, PanelSettings, Budget, Stored):
    """What a server of the Model Context Protocol reads, and into which run it judges. No `run_id`: it reads alone."""

    run_id: Annotated[
        Annotated[str, AfterValidator(checked_run_id)] | None,
        Option(
            group="Jurors and rules",
            help="Judge into this run, within its budget. [default: read alone]",
            name="--run",
            metavar="ID",
        ),
    ] = None
    simulate: Annotated[Simulation, _judged(help="As of `jury run`.", metavar="KEY=VALUE")] = NO_FAULTS
    require_drift_check: Annotated[Age | None, replace(DRIFT_CHECK, group="Jurors and rules")] = None
    http: Annotated[bool, _listens(help="Listen for HTTP, at /mcp, instead of standard input and output.")] = False
    port: Port = 8766

    def model_post_init(self, context: Any) -> None:
        """Refuse settings that do not go together."""
        super().model_post_init(context)
        if self.run_id is None and (given := self._given(_OF_JUDGING)) is not None:
            raise SettingsRefused(f"{{{given}}} is about judging, which needs {{run_id}} ID; give it too")
        if not self.http and (given := self._given(_OF_HTTP)) is not None:
            raise SettingsRefused(f"{{{given}}} is about {{http}}; give it too")

    def _given(self, names: tuple[str, ...]) -> str | None:
        fields = type(self).model_fields
        nothing: dict[str, str] = {}  # what a command without `--simulate` gives
        return next((name for name in names if getattr(self, name) not in (fields[name].get_default(), nothing)), None)

    @property
    def run(self) -> RunSettings:
        """The settings of the run into which cases are judged, in this process."""
        named = {name: getattr(self, name) for name in _OF_JUDGING}
        return RunSettings.of(run_id=self.run_id, store_url=self.store_url, in_process=True, **named)
