"""What is installed, reachable and configured: the findings of jury doctor."""

import os
import platform
import shutil
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, date, datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal, NamedTuple

from jury_actors.ray_address import token_for
from jury_actors.ray_nodes import NodeCheck
from jury_events.errors import JuryError
from jury_events.models import is_other_model
from jury_events.outcome import CallOutcome
from jury_events.panel import CallSettings
from jury_events.text import pluralize, visible_line
from jury_judge.blocking import BlockingWork
from jury_judge.errors import PanelFileError
from jury_judge.panels.authoring import Dialects, shown, write_dialects
from jury_judge.panels.files import LoadedPanel, panel_remarks, recipient_lines
from jury_judge.settings.store import load_settings
from jury_providers.catalogue import known_window
from jury_providers.dialects import profile_of
from jury_providers.endpoints import endpoint_of
from jury_providers.errors import BadVariable
from jury_providers.probe import ProbeResult, decision_models, is_usable, probe, probe_settings
from jury_providers.registry import missing_key, provider_factory
from jury_store.errors import StoreMissing
from jury_store.opening import open_store, parse_store_url, redacted_url

Mark = Literal["ok", "note", "warning", "problem"]


class DiagnosisFinding(NamedTuple):
    """One line. A problem keeps debates from running; keys are named, never shown."""

    mark: Mark
    line: str


async def probed(loaded: LoadedPanel, file: str | None = None) -> AsyncGenerator[DiagnosisFinding, None]:
    """How many calls are made, then a finding for each; a problem where a seat's model does not answer.

    Args:
        file: the panel file, into which is written how servers take calls, where it does not say so; None: that is
            a finding.
    """
    calls: dict[str, CallSettings] = {}
    for panel in loaded.panels:
        calls = {**probe_settings(panel), **calls}
    longest = max(settings.attempt_seconds for settings in calls.values())
    said = f"probing: {pluralize(len(calls), 'call')}, one for each model of the panel, for up to {longest:g} s"
    servers = (endpoint_of(model.partition("/")[0], loaded.endpoints) for model in calls)
    if any(server.protocol == "openai" and server.base_url is not None for server in servers):
        said += "; of servers of Chat Completions beside OpenAI's a few more find out what they take"
    yield DiagnosisFinding("note", said)
    primary = {place.model for panel in loaded.panels for place in panel.seats_and_judge}
    deciding = frozenset(model for panel in loaded.panels for model in decision_models(panel))
    results = await probe(calls, provider_factory(endpoints=loaded.endpoints), deciding)
    dialects = {one.model.partition("/")[0]: _dialect(one, loaded) for one in results if one.found and one.found.fields}
    if file is not None and dialects:
        write_dialects(file, dialects)
    for one in results:
        for found in _findings(one, loaded, dialects, file, needed=one.model in primary):
            yield found


def _findings(
    one: ProbeResult, loaded: LoadedPanel, dialects: Dialects, file: str | None, *, needed: bool
) -> Iterator[DiagnosisFinding]:
    """What was found out of one model, and with it of its server."""
    reply, served, provider = one.reply, one.served, one.model.partition("/")[0]
    yield _found(one, needed=needed)
    if reply.stripped:
        taken = ", ".join(reply.stripped)
        yield DiagnosisFinding("note", f"{one.model}: its answer stood in: {taken}; that is taken off and recorded")
    if reply.outcome is CallOutcome.ANSWERED and one.found is not None and not is_usable(reply):
        yield DiagnosisFinding("warning", f"{one.model}: its answer is not one JSON object, as seats have to answer")
    if one.found is not None and provider in dialects:
        place, lines = f"providers.{provider}", shown(dialects[provider])
        if file is not None:
            yield DiagnosisFinding("ok", f"{place}: written into {file}: {lines}")
        else:
            remedy = f"write {lines} there, or let --write do it"
            yield DiagnosisFinding("problem", f"{place}: its server refuses calls as they are made; {remedy}")
    if served.shutdown is not None:
        yield DiagnosisFinding(
            "warning", f"{one.model}: its provider says that it is to be shut down on {served.shutdown}"
        )
    if (window := _window(one.model, served.lengths.window, loaded)) is not None:
        yield window


def _dialect(one: ProbeResult, loaded: LoadedPanel) -> dict[str, Any]:
    """The fields of `dialect` with what was found, the profile that the file names included."""
    endpoint = loaded.endpoints.get(one.model.partition("/")[0])
    written = None if endpoint is None else endpoint.dialect
    said = {} if written is None else written.model_dump(exclude_none=True, mode="json")
    assert one.found is not None
    return {**said, **one.found.fields}


def _window(model: str, served: int | None, loaded: LoadedPanel) -> DiagnosisFinding | None:
    """What the server says of the model's window, where less than that or nothing was known."""
    known = known_window(model, loaded.endpoints)
    if served is None or (known is not None and known <= served):
        return None
    said = f"{model}: its server says that its window is {served:,} tokens"
    remedy = f"write window: {served} at providers.{model.partition('/')[0]}"
    if known is None:
        return DiagnosisFinding("note", f"{said}; so that cases are compared with it, {remedy}")
    return DiagnosisFinding("warning", f"{said}, fewer than the {known:,} that are assumed; {remedy}")


def _found(one: ProbeResult, *, needed: bool) -> DiagnosisFinding:
    reply = one.reply
    took = f"{one.seconds * 1000:.0f} ms"
    if not one.answers:
        said = visible_line(reply.error or "no reason given", 300)
        return DiagnosisFinding(
            "problem" if needed else "warning", f"{one.model}: {reply.outcome} after {took}: {said}"
        )
    answered_by = visible_line(reply.model_version or "the provider does not say which model", 100)
    answered = f"{one.model}: {reply.outcome} in {took} by {answered_by}"
    if one.simulated:
        return DiagnosisFinding("ok", f"{answered} (simulated: no model was called)")
    if is_other_model(one.model, reply.model_version):
        return DiagnosisFinding("warning", f"{answered}, which is another model")
    return DiagnosisFinding("ok", answered)


Joined = Callable[[str], AbstractContextManager[None]]
"""Joins the Ray cluster at HOST:PORT, and leaves it again."""


@contextmanager
def joined_here(address: str) -> Iterator[None]:
    """The cluster, joined in this thread."""
    from jury_actors import ray_runtime  # slow: Ray

    ray_runtime.start_ray(address, open_cluster=False)
    try:
        yield
    finally:
        ray_runtime.stop_ray()


def nodes(address: str, loaded: LoadedPanel, store_url: str | None, joined: Joined) -> Iterator[DiagnosisFinding]:
    """Each node's releases, keys for the panel, and whether it reaches the store."""
    url = load_settings(os.environ, store_url=store_url).store_url
    shared = not url.startswith("sqlite")
    wanted = NodeCheck(loaded.panels, loaded.endpoints, url if shared else None)
    try:
        with joined(address):
            from jury_actors.ray_nodes import inspect_nodes

            reports = inspect_nodes(wanted)
    except JuryError as error:
        yield DiagnosisFinding("problem", str(error))
        return
    if len(reports) > 1 and not shared:
        yield DiagnosisFinding(
            "problem", f"the cluster has {len(reports)} nodes, and a SQLite store is on one of them: use PostgreSQL"
        )
    reached = ", the store is reached" if shared else ""
    for one in reports:
        if not one.problems:
            yield DiagnosisFinding("ok", f"node {one.name}: the releases are those of here, no key is missing{reached}")
        for problem in one.problems:
            yield DiagnosisFinding("problem", f"node {one.name}: {problem}")


_STALE = timedelta(days=180)
"""After which what is known of a server may no longer hold."""


def panel_findings(loaded: LoadedPanel, title: str, *, keys: bool) -> Iterator[DiagnosisFinding]:
    """Its seats, keys, recipients and models, of a ladder those of all stages.

    Without `keys` none is looked for in this environment.
    """
    for number, panel in enumerate(loaded.panels, 1):
        of = title if loaded.ladder is None else f"{title}, stage {number} of {len(loaded.panels)}"
        yield DiagnosisFinding("ok", f"{of}: {panel.name}, {', '.join(seat.juror_id for seat in panel.seats)}")
    # On a cluster keys are looked at where they are used: on its nodes.
    for name in dict.fromkeys(model.partition("/")[0] for model in loaded.models if keys):
        try:
            variables = missing_key(name, loaded.endpoints, os.environ)
        except BadVariable as error:
            yield DiagnosisFinding("problem", f"provider {name}: {error}")
            continue
        if variables:
            yield DiagnosisFinding("problem", f"provider {name}: no key is set; set {' or '.join(variables)}")
    yield from _stale_dialects(loaded, datetime.now(UTC).date())
    for line in loaded.outside:
        yield DiagnosisFinding("note", line)
    environ = os.environ if keys else None
    for line in recipient_lines(loaded, environ):
        yield DiagnosisFinding("note", line)
    remarks = panel_remarks(loaded, environ or {}, datetime.now(UTC).date())
    for line in remarks.notes:
        yield DiagnosisFinding("note", line)
    for warning in remarks.warnings:
        yield DiagnosisFinding("warning", warning)


def _stale_dialects(loaded: LoadedPanel, today: date) -> Iterator[DiagnosisFinding]:
    for name in dict.fromkeys(model.partition("/")[0] for model in loaded.models):
        endpoint = endpoint_of(name, loaded.endpoints)
        profile = profile_of(endpoint.dialect, name, endpoint.base_url) if endpoint.protocol == "openai" else None
        if profile is not None and today - profile.day > _STALE:
            said = f"what is known of its calls is of {profile.day}; jury doctor --probe finds out whether it holds"
            yield DiagnosisFinding("warning", f"provider {name}: {said}")


_PACKAGES = (
    "jury-judge",
    "ray",
    "pydantic",
    "sqlalchemy",
    "alembic",
    "psycopg",
    "openai",
    "anthropic",
    "google-genai",
)
_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY")
_VARIABLES = (
    "JURY_STORE_URL",
    "JURY_USE_COLLABORATIVE",
    "JURY_MAX_DISCUSSION_ROUNDS",
    "JURY_CONSENSUS_THRESHOLD",
    "JURY_FINAL_JUDGMENT_METHOD",
    "JURY_FINAL_JUDGE_MODEL",
    "JURY_ARTIFACT_HOSTS",
    "JURY_PRICES",
    "JURY_SEAL_KEY",
    "JURY_SEAL_LAST",
    "OPENAI_BASE_URL",
    "ANTHROPIC_BASE_URL",
    "GOOGLE_GEMINI_BASE_URL",
)


def surroundings(store_url: str | None) -> Iterator[DiagnosisFinding]:
    """Packages, store, variables, keys, disk; `store_url`: None for that of the environment."""
    yield DiagnosisFinding("ok", f"Python {platform.python_version()} on {platform.system()} {platform.machine()}")
    for name in _PACKAGES:
        try:
            yield DiagnosisFinding("ok", f"{name} {version(name)}")
        except PackageNotFoundError:
            yield DiagnosisFinding("problem", f"{name} is not installed; install jury-judge again")
    yield from _store(store_url)
    for name in _VARIABLES:
        if name in os.environ and name != "JURY_STORE_URL":
            yield DiagnosisFinding("ok", f"{name} is set")
    found = [name for key in _KEYS for name in (key, f"{key}_FILE") if os.environ.get(name)]
    yield DiagnosisFinding("note", f"provider keys set: {', '.join(found) or 'none'}")
    free = shutil.disk_usage(".").free
    yield DiagnosisFinding("ok" if free > 1 << 30 else "problem", f"{free / (1 << 30):.1f} GiB free in this directory")


def _store(store_url: str | None) -> Iterator[DiagnosisFinding]:
    try:
        url = load_settings(os.environ, store_url=store_url).store_url
        name = redacted_url(parse_store_url(url))
        store = open_store(url, write=False)
    except StoreMissing:
        yield DiagnosisFinding("note", f"store {name}: not there yet; `jury demo` and `jury run` create it")
        return
    except JuryError as error:
        yield DiagnosisFinding("problem", f"store: {error}")
        return
    try:
        role, user = store.writer_role, store.user
        yield DiagnosisFinding(
            "ok", f"store {name}: {pluralize(store.last_position(), 'event')}, {pluralize(len(store.runs()), 'run')}"
        )
        if role is not None:
            yield DiagnosisFinding("ok", f"writes are made as the database role {role}, which may not change events")
        elif user is not None and not user.may_write:
            yield DiagnosisFinding("ok", f"the database user {user.name} may read this store and not write to it")
        elif user is not None:
            yield DiagnosisFinding(
                "note", "no writer role: only triggers guard the events; run deploy/roles.sql as a superuser"
            )
        for fault in store.right_faults():
            yield DiagnosisFinding("problem", fault)
    finally:
        store.close()


def access(address: str) -> Iterator[DiagnosisFinding]:
    """Whether the Ray cluster at HOST:PORT asks for a token, and accepts the one that is set here."""
    try:
        token_for(address)
    except JuryError as error:
        yield DiagnosisFinding("problem", str(error))
    else:
        yield DiagnosisFinding(
            "ok", f"Ray cluster at {address}: it asks for a token, and accepts the one that is set here"
        )


class Diagnosis(BlockingWork):
    """Looks whether debates could run here. Keys are named, never shown.

    Args:
        store_url: of the store; None: that of the environment, else the default.
        panel: a panel or ladder file, or a name; None: the default panel.
        ray_address: HOST:PORT of a Ray cluster; None: no cluster is looked at.
        joined: joins the cluster, and leaves it again; the default does so in the thread that looks.
        threads: as of `Records`.

    Attributes:
        sound: `findings` found no problem so far.
        ready: `findings` came to its end, and nothing keeps the panel's models from being called.
    """

    def __init__(
        self,
        store_url: str | None = None,
        *,
        panel: str | None = None,
        ray_address: str | None = None,
        joined: Joined = joined_here,
        threads: bool = True,
    ) -> None:
        super().__init__(threads=threads)
        self._store_url = store_url
        self._panel = panel
        self._address = ray_address
        self._joined = joined
        self._loaded: LoadedPanel | None = None
        self.sound = True
        self.ready = False

    def findings(self) -> AsyncGenerator[DiagnosisFinding, None]:
        """Packages, the store, variables, keys, disk, the panel, and the nodes of the cluster; each as it is found."""
        return self._steps(self._findings)

    async def probe(self, *, write: bool = False) -> AsyncGenerator[DiagnosisFinding, None]:
        """Call each model of the panel once, for real, with a tiny question: it may cost. After `findings`.

        Of servers of Chat Completions that are not OpenAI's a few more calls find out what they take.
        Where something keeps the models from being called, none is, and nothing is found.

        Args:
            write: what was found out is written into the panel file.
        """

        if not self.ready or self._loaded is None:
            return
        file = self._panel if write else None
        if write and (file is None or self._loaded.ladder is not None or not os.path.isfile(file)):  # noqa: PTH113, ASYNC240
            raise PanelFileError("what is found out can be written into a panel file only; name one with --panel")
        async for one in probed(self._loaded, file):
            yield one

    def _findings(self) -> Generator[DiagnosisFinding, None, None]:
        yield from self._noted(surroundings(self._store_url))
        if self._address is not None:
            yield from self._noted(access(self._address))
        here = self.sound
        title = "default panel" if self._panel is None else "panel"
        try:
            self._loaded = loaded = _load(self._panel)
        except JuryError as error:
            yield from self._noted([DiagnosisFinding("problem", f"{title}: {error}")])
            return

        ready = yield from self._noted(panel_findings(loaded, title, keys=self._address is None))
        if self._address is not None and here:
            reached = yield from self._noted(nodes(self._address, loaded, self._store_url, self._joined))
            ready = ready and reached
        self.ready = ready

    def _noted(self, found: Iterable[DiagnosisFinding]) -> Generator[DiagnosisFinding, None, bool]:
        """The findings; returns whether none is a problem."""
        sound = True
        for one in found:
            sound = sound and one.mark != "problem"
            self.sound = self.sound and sound
            yield one
        return sound


def _load(panel: str | None) -> "LoadedPanel":
    from jury_judge.panels.ladders import load_panel_or_ladder
    from jury_providers.registry import check_models

    loaded = load_panel_or_ladder(panel, os.environ)
    for one in loaded.panels:
        check_models(one, loaded.endpoints)
    return loaded
