"""What a server of a store serves, where it listens, and which requests it takes."""

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator

from jury_actors.store_retry import STORE_PATIENCE
from jury_judge.errors import SettingsRefused
from jury_judge.settings.judging import Budget, PanelSettings, Processes, Simulation
from jury_judge.settings.model import SettingsModel
from jury_judge.settings.run import RunSettings, checked_run_id
from jury_providers.simulated.script import NO_FAULTS


class ListeningSettings(SettingsModel):
    """The settings of every server of a store.

    Attributes:
        host: the address to listen at.
        port: 0: any that is free.
        hosts: further names by which clients reach it, in lower case, with a port where it is not the usual one.
        token: that requests need. On loopback none is needed without one.
    """

    host: str = "127.0.0.1"
    port: int
    hosts: tuple[str, ...] = ()
    token: str | None = None


_ROOT = re.compile(r"(/[A-Za-z0-9._~-]{1,100}){0,10}")


class ServeSettings(ListeningSettings):
    """What a server serves to whom, and where it judges what is submitted. With reviewers requests always need a token.

    Attributes:
        readers: live readers at most.
        store_url: `sqlite:///PATH` or `postgresql://…`; None is `JURY_STORE_URL`, else `sqlite:///jury.db`.
        read_only: judge nothing.
        panels: panel files, juries or presets under which requests are judged; the first is the default. (): the
            preset `parallel-rounds`.
        concurrency: debates at once.
        simulate: latencies and faults of simulated jurors: a `Script`, or its settings as texts by name.
        ray_address: judge on the Ray cluster at `host:port` instead of in this process.
        ray_open_cluster: join it even if it requires no token (`docs/ray.md`).
        replicas: juror processes a seat, on Ray; None: as many as its CPUs can serve.
        coordinators: processes that share the debates, on Ray; None: as its CPUs can use them.
        store_patience: seconds for which a store that cannot be written is tried again, while answers are kept.
        otel: send a trace of each debate that ends, as the standard variables of OpenTelemetry say.
        reviewers_file: a file with the names and tokens of people who review.
        reviewer: the one person whose requests all are, on this machine, without a token.
        open_reviews: reviewers see the jury's words before their own verdict.
        webhook: a URL that gets a message when a debate waits for a person.
        secret_file: a file with the secret that signs these messages; None is `JURY_WEBHOOK_SECRET`.
        deliveries_file: their record; None: beside the SQLite file.
        root_path: the path of a proxy below which clients reach the server, as `/jury`; "": it has none.
    """

    port: int = 8765
    readers: int = 1000
    store_url: str | None = None
    read_only: bool = False
    panels: tuple[str, ...] = ()
    concurrency: int = 64
    simulate: Simulation = NO_FAULTS
    ray_address: str | None = None
    ray_open_cluster: bool = False
    replicas: Processes = None
    coordinators: Processes = None
    store_patience: float = STORE_PATIENCE
    otel: bool = False
    reviewers_file: Path | None = None
    reviewer: str | None = None
    open_reviews: bool = False
    webhook: str | None = None
    secret_file: Path | None = None
    deliveries_file: Path | None = None
    root_path: str = ""

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


_OF_JUDGING = (*PanelSettings.model_fields, "max_calls", "max_cost", "prices", "simulate")
_OF_HTTP = ("host", "port", "hosts")


class McpSettings(ListeningSettings, PanelSettings, Budget):
    """What a server of the Model Context Protocol reads, and into which run it judges.

    Attributes:
        run_id: judge into this run; None: the server reads alone.
        store_url: `sqlite:///PATH` or `postgresql://…`; None is `JURY_STORE_URL`, else `sqlite:///jury.db`.
        simulate: latencies and faults of simulated jurors: a `Script`, or its settings as texts by name.
        http: listen for HTTP instead of standard input and output.
    """

    run_id: Annotated[str, AfterValidator(checked_run_id)] | None = None
    store_url: str | None = None
    simulate: Simulation = NO_FAULTS
    http: bool = False
    port: int = 8766

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
