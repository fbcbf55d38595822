"""A store that is served: who may ask, who judges what is submitted, who hears what waits for a person."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from jury_actors.effects import Effects
from jury_actors.observation.tallies import MetricTotals
from jury_cases.artifact_hosts import parse_hosts
from jury_events.errors import JuryError, SettingError
from jury_events.regular_files import read_failure, read_text
from jury_events.text import pluralize
from jury_judge.errors import SettingsRefused, escaped
from jury_judge.jury import Jury
from jury_judge.panels.ladders import load_panel_or_ladder
from jury_judge.reviews.named_tokens import check_token, named_tokens
from jury_judge.runs.panel_actors import Observation, Writing
from jury_judge.serving.service import Reviewing, Service
from jury_judge.serving.submissions import MakeJury
from jury_judge.settings.jury import RuntimeSettings
from jury_judge.settings.reviewing import RULE, is_reviewer_name
from jury_judge.settings.serving import ServeSettings
from jury_judge.settings.store import Sources, load_settings
from jury_judge.store_access.open_batches import StoreBatchMetrics
from jury_judge.store_access.panel_standing import StoreDriftMetrics
from jury_judge.store_access.stores import Say, open_or_create
from jury_judge.webhooks.deliveries import DeliveryJournal, ReviewDeliveries, deliver
from jury_judge.webhooks.sender import HOSTS, WEBHOOK_SECRET, WebhookSender, webhook_secret
from jury_store.event_store import EventStore
from jury_store.opening import database_path, open_store, parse_store_url

_DEFAULT_PANEL = "parallel-rounds"
_MAX_SECRET = 4096


class ServedStore:
    """What a server of a store needs, checked before it listens; `open` opens the store.

    Attributes:
        reviewers: tokens of the people who review, by name.
        metrics: what the actors count.
    """

    def __init__(self, settings: ServeSettings, environ: Mapping[str, str]) -> None:
        self._settings = settings
        self.metrics = MetricTotals()
        check_token(settings.token)
        if settings.reviewer is not None and not is_reviewer_name(settings.reviewer):
            raise SettingsRefused(f"{{reviewer}}: {RULE}", usage=False)
        self.reviewers = {} if settings.reviewers_file is None else named_tokens(settings.reviewers_file)
        if settings.token in self.reviewers.values():
            shown = escaped(str(settings.reviewers_file))
            raise SettingsRefused(f"{{token}}: a reviewer in {shown} has it too; give each their own", usage=False)
        self.url = load_settings(environ, store_url=settings.store_url).store_url
        self._panels = {} if settings.read_only else self._made_panels(environ)
        is_file = self.url.startswith("sqlite")
        self._database = database_path(parse_store_url(self.url)) if is_file else None
        self._sender = None if settings.webhook is None else _sender(settings.webhook, settings.secret_file, environ)
        self._store: EventStore | None = None
        self._journal: DeliveryJournal | None = None
        self.created = False

    def open(self) -> None:
        """Open the store, and the record of messages."""
        self.created = self._database is not None and not self._database.exists()
        self._store = open_store(self.url, write=False) if self._settings.read_only else open_or_create(self.url)
        if self._sender is not None:
            file = self._settings.deliveries_file
            if file is None and self._database is None:
                raise SettingsRefused(
                    "{webhook} needs {deliveries_file} FILE where the store is PostgreSQL", usage=False
                )
            self._journal = DeliveryJournal(
                file or Path(f"{self._database}.deliveries.jsonl"), self._store.last_position()
            )

    def service(self) -> Service:
        """What requests need, in the running event loop; it closes the store, which must be open."""
        assert self._store is not None, "call open() before"
        reviewing = None
        if self.reviewers or self._settings.reviewer is not None:
            reviewing = Reviewing.over(self.url, blind=not self._settings.open_reviews)
        return Service(
            self._store,
            self._panels,
            readers=self._settings.readers,
            database=self._database,
            store_url=self.url,
            reviewing=reviewing,
        )

    def batches(self) -> StoreBatchMetrics:
        """The batches of the store, which must be open, among the metrics."""
        assert self._store is not None, "call open() before"
        return StoreBatchMetrics(self._store, Effects().clock)

    def drift(self) -> StoreDriftMetrics:
        """The drift checks of the store, which must be open, among the metrics."""
        assert self._store is not None, "call open() before"
        return StoreDriftMetrics(self._store, Effects().clock)

    @asynccontextmanager
    async def delivering(self, stopping: asyncio.Event) -> AsyncIterator[None]:
        """Send messages about what waits for a person meanwhile; the attempt under way is waited for."""
        if self._sender is None or self._journal is None or self._store is None:
            yield
            return
        try:
            task = asyncio.create_task(
                deliver(ReviewDeliveries(self._store, self._journal, self._sender.send), stopping)
            )
            try:
                yield
            finally:
                stopping.set()
                await task
        finally:
            self._journal.close()

    def _made_panels(self, environ: Mapping[str, str]) -> Mapping[str, MakeJury]:
        """Factories of the Jury of each panel. Each is called once now, so that errors show at once."""
        asked = self._settings
        runtime = RuntimeSettings(
            ray_address=asked.ray_address,
            ray_open_cluster=asked.ray_open_cluster,
            replicas=asked.replicas,
            coordinators=asked.coordinators,
            simulate=asked.simulate,
        )
        made: dict[str, MakeJury] = {}
        for name in asked.panels or (_DEFAULT_PANEL,):
            loaded = load_panel_or_ladder(name, environ)
            runtime.script(loaded.models)  # refused before anything is said about the panel's models
            make = partial(
                Jury,
                loaded,
                store=self.url,
                runtime=runtime,
                environ=environ,
                concurrency=asked.concurrency,
                sources=Sources(require_drift_check=asked.require_drift_check),
                writing=Writing(patience=asked.store_patience),
                observation=Observation(metrics=self.metrics, otel=asked.otel),
            )
            make()
            known = Path(name).stem if Path(name).is_file() else name
            if known in made:
                said = f"{escaped(name)}: another panel is called {escaped(known)} too; give the file another name"
                raise SettingsRefused(f"{{panels}} {said}", usage=False)
            made[known] = partial(_listening, make)
        return made


@asynccontextmanager
async def resuming(service: Service, say: Say) -> AsyncIterator[None]:
    """Go on with submitted runs that no process executes: at once, and again every few seconds."""

    async def resume() -> None:
        said = ""
        while True:
            try:
                resumed = await service.submissions.look()
            except JuryError as error:
                line = f"jury: submissions cannot be looked for: {error}; they are looked for again"
                if line != said:
                    say(line)
                said = line
            else:
                if resumed:
                    say(f"jury: going on with {pluralize(resumed, 'submission')} of an earlier server")
            await service.submissions.freed()

    task = asyncio.create_task(resume())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _listening(make: Callable[..., Jury], on_chunk: Callable[[str, str], None]) -> Jury:
    return make(on_chunk=on_chunk)


def _sender(url: str, secret_file: Path | None, environ: Mapping[str, str]) -> WebhookSender:
    if secret_file is not None:
        try:
            secret, place = read_text(secret_file, _MAX_SECRET), str(secret_file)
        except (OSError, ValueError) as error:
            raise SettingError(f"{secret_file}: {read_failure(error)}") from None
    else:
        secret, place = environ.get(WEBHOOK_SECRET, ""), f"${WEBHOOK_SECRET}"
        if not secret:
            raise SettingsRefused(
                f"{{webhook}} signs its messages; give {{secret_file}} FILE or ${WEBHOOK_SECRET}", usage=False
            )
    return WebhookSender(url, webhook_secret(secret, place), parse_hosts(environ.get(HOSTS, ""), HOSTS))
