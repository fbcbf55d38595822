"""`jury serve`: the debates of a store in a browser, and over HTTP."""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jury_cli.exits import Exit
from jury_cli.observation_options import TOKEN, log_options, otel_option
from jury_cli.options import (
    open_cluster_option,
    pairs,
    patience_option,
    price_list,
    process_options,
    ray_address_option,
    resolved_store,
    store_option,
)

if TYPE_CHECKING:
    from jury_judge.serving.service import Service
    from jury_judge.serving.submissions import MakeJury
    from jury_judge.webhooks.journal import DeliveryJournal
    from jury_judge.webhooks.sender import WebhookSender
    from jury_store.event_store import EventStore

WEBHOOK_SECRET = "JURY_WEBHOOK_SECRET"  # noqa: S105  (a variable's name)
_MAX_SECRET = 4096
_NAME = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]{1,253})(:[0-9]{1,5})?")


def _names(_context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if not _NAME.fullmatch(value):
            raise click.BadParameter(f"{value!r} is not NAME or NAME:PORT", param=parameter)
    return tuple(value.lower() for value in values)


@click.command("serve")
@click.option(
    "--panel",
    "panels",
    metavar="FILE|NAME",
    multiple=True,
    help="Judge requests under this panel: a panel file (requests call it by its name without suffix), a jury or a "
    "preset, as of `jury run`. Repeatable; the first is the default. [default: parallel-rounds, simulated jurors]",
)
@click.option("--read-only", is_flag=True, help="Show debates; judge nothing.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0: any that is free.")
@click.option(
    "--allow-host",
    "hosts",
    metavar="NAME[:PORT]",
    multiple=True,
    callback=_names,
    help="A further name by which browsers reach this server, as behind a proxy. Repeatable.",
)
@click.option(
    "--token",
    metavar="TOKEN",
    envvar=TOKEN,
    help=f"The token that requests need. Off loopback one is generated and printed by default. [${TOKEN}]",
)
@click.option(
    "--readers", type=click.IntRange(1, 100_000), default=1000, show_default=True, help="Live readers at most."
)
@click.option("--concurrency", type=click.IntRange(1, 10_000), default=64, show_default=True, help="Debates at once.")
@click.option("--simulate", metavar="KEY=VALUE", multiple=True, callback=pairs, help="As of `jury run`.")
@click.option(
    "--reviewers",
    "reviewers_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="A YAML file of lines `NAME: TOKEN`: these people review debates at /reviews, each with their token, and the "
    "server asks for a token on loopback too. Without it, reviewing over the network is off.",
)
@click.option(
    "--open-reviews",
    is_flag=True,
    help="Show reviewers the jury's words before their verdict; their reviews are not blind.",
)
@click.option(
    "--on-review-needed",
    "webhook",
    metavar="URL",
    help="Post a signed message to this URL when a debate waits for a person (docs/reviews.md).",
)
@click.option(
    "--webhook-secret",
    "secret_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help=f"A file with the secret that signs these messages, whsec_…  [default: ${WEBHOOK_SECRET}]",
)
@click.option(
    "--deliveries",
    "deliveries_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The record of these messages.  [default: beside the SQLite file]",
)
@log_options
@otel_option
@ray_address_option("Judge on this Ray cluster instead of in this process; it must ask for a token (docs/ray.md).")
@open_cluster_option
@process_options
@patience_option
@store_option
def command(
    panels: tuple[str, ...],
    *,
    read_only: bool,
    host: str,
    port: int,
    hosts: tuple[str, ...],
    token: str | None,
    readers: int,
    concurrency: int,
    simulate: dict[str, str],
    reviewers_file: Path | None,
    open_reviews: bool,
    webhook: str | None,
    secret_file: Path | None,
    deliveries_file: Path | None,
    ray_address: str | None,
    ray_open_cluster: bool,
    replicas: int | None,
    coordinators: int | None,
    store_patience: float,
    store_url: str | None,
    otel: bool,
) -> int:
    """Serve pages, the HTTP interface and live events, until Ctrl-C.

    On loopback requests need a token only if one is given, or reviewers are; elsewhere always. Debates that run when
    the server ends stop where they are; the next server of the store goes on with them.
    """
    from jury_actors.observation.metric_totals import MetricTotals
    from jury_cli.terminal import note
    from jury_events.errors import SettingError
    from jury_events.text.pluralize import pluralize
    from jury_judge.reviews.named_tokens import TOKEN_RULE, is_token, named_tokens
    from jury_judge.reviews.reviews import ReviewRecorder
    from jury_judge.serving.kept_submissions import kept_submissions
    from jury_judge.serving.reviewing import Reviewing
    from jury_judge.serving.service import Service
    from jury_judge.stores.stores import open_or_create
    from jury_store.opening import database_path, open_store, parse_store_url
    from jury_web.app import AccessPolicy, create_app
    from jury_web.metrics_endpoint import metrics_route
    from jury_web.pages.routing import page_routes
    from jury_web.server import listen, serving

    _check_options(
        panels,
        reviewers_file,
        read_only=read_only,
        open_reviews=open_reviews,
        webhook=webhook,
        of_webhook=secret_file or deliveries_file,
        ray_address=ray_address,
        processes=replicas is not None or coordinators is not None,
    )
    if token is not None and not is_token(token):
        raise SettingError(f"--token: {TOKEN_RULE}")
    reviewers = {} if reviewers_file is None else named_tokens(reviewers_file)
    if token in reviewers.values():
        raise SettingError(f"--token: a reviewer in {reviewers_file} has it too; give each their own")
    url = resolved_store(store_url)
    metrics = MetricTotals()
    settings = {
        "concurrency": concurrency,
        "store_patience": store_patience,
        "ray_address": ray_address,
        "ray_open_cluster": ray_open_cluster,
        "replicas": replicas,
        "coordinators": coordinators,
        "metrics": metrics,
        "otel": otel,
    }
    made = {} if read_only else _panels(panels or ("parallel-rounds",), url, simulate, settings)
    database = database_path(parse_store_url(url)) if url.startswith("sqlite") else None
    sender = None if webhook is None else _sender(webhook, secret_file)
    listener, address = listen(host, port)
    try:
        store = open_store(url, write=False) if read_only else open_or_create(url)
        journal = None if sender is None else _journal(store, deliveries_file, database)
    except BaseException:
        listener.close()
        raise
    reviewing = Reviewing(ReviewRecorder(url).record, blind=not open_reviews) if reviewers else None
    gate = AccessPolicy(
        frozenset({*address.names, *hosts}),
        address.everywhere,
        _token(token, note, needed=bool(reviewers) or not address.loopback),
        reviewers=reviewers,
    )

    async def serve(stopping: asyncio.Event) -> None:
        service = Service(
            store,
            made,
            readers=readers,
            database=database,
            store_url=url,
            reviewing=reviewing,
            kept=kept_submissions(url),
        )
        pages = page_routes(store, service.reports, reviewing, service.live_runs)
        app = create_app(service, gate, [*pages, metrics_route(metrics)])
        async with serving(app, listener, service.end), _delivering(store, sender, journal, stopping):
            note(f"Jury Judge: {address.url}   (Ctrl-C ends it)")
            async with _resuming(service, note):
                await stopping.wait()
            running = service.submissions.running
            left = f"; {pluralize(running, 'submission')} under way: the next server of this store goes on"
            note("jury: ending" + (left if running else ""))

    _run(serve, ray_address, open_cluster=ray_open_cluster)
    return Exit.DONE


def _run(
    serve: Callable[[asyncio.Event], Coroutine[Any, Any, None]], ray_address: str | None, *, open_cluster: bool
) -> None:
    """Run the server until a signal comes; on a cluster, which is joined first."""
    from jury_cli.interrupts import event_loop, until_interrupted
    from jury_cli.ray_thread import ray_started

    with ExitStack() as stack:
        if ray_address is not None:
            stack.enter_context(ray_started(ray_address, open_cluster=open_cluster))
        loop = stack.enter_context(event_loop())
        loop.run(until_interrupted(serve, waits_for=_waits_for))


async def _waits_for() -> str:
    return "open requests, and debates that stop where they are"


@asynccontextmanager
async def _resuming(service: "Service", note: Callable[[str], None]) -> AsyncIterator[None]:
    """Go on meanwhile with what an earlier server of the store did not end."""
    from jury_events.text.pluralize import pluralize

    async def resume() -> None:
        try:
            resumed = await service.submissions.resume()
        except (OSError, ValueError) as error:
            note(f"jury: submissions of an earlier server cannot be read: {error}")
        else:
            if resumed:
                note(f"jury: going on with {pluralize(resumed, 'submission')} of an earlier server")

    task = asyncio.create_task(resume())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _check_options(
    panels: tuple[str, ...],
    reviewers: Path | None,
    *,
    read_only: bool,
    open_reviews: bool,
    webhook: str | None,
    of_webhook: Path | None,
    ray_address: str | None,
    processes: bool,
) -> None:
    if read_only and ray_address is not None:
        raise click.UsageError("--read-only judges nothing; leave --ray-address out")
    if processes and ray_address is None:
        raise click.UsageError("--replicas and --coordinators are about --ray-address HOST:PORT; give it too")
    if read_only and panels:
        raise click.UsageError("--read-only judges nothing; leave --panel out")
    if read_only and reviewers is not None:
        raise click.UsageError("--read-only writes nothing; leave --reviewers out")
    if open_reviews and reviewers is None:
        raise click.UsageError("--open-reviews is about --reviewers FILE; give it too")
    if webhook is None and of_webhook is not None:
        raise click.UsageError("--webhook-secret and --deliveries are about --on-review-needed URL; give it too")


def _panels(
    names: tuple[str, ...], url: str, simulate: dict[str, str], settings: Mapping[str, Any]
) -> "Mapping[str, MakeJury]":
    """Factories of the Jury of each panel. Each is called once now, so that errors show at once."""
    from jury_cli.options import simulated
    from jury_events.errors import SettingError
    from jury_judge.jury import Jury
    from jury_judge.panels.files import load_panel

    prices = price_list(None)
    made: dict[str, MakeJury] = {}
    for name in names:
        loaded = load_panel(name, os.environ)
        script = simulated(simulate, loaded.panel.models)
        make = partial(Jury, loaded, store=url, prices=prices, simulate=script, **settings)
        make()
        known = Path(name).stem if Path(name).is_file() else name
        if known in made:
            raise SettingError(f"--panel {name}: another panel is called {known} too; give the file another name")
        made[known] = lambda on_chunk, make=make: make(on_chunk=on_chunk)  # type: ignore[misc]
    return made


def _token(given: str | None, note: Callable[[str], None], *, needed: bool) -> str | None:
    from secrets import token_urlsafe

    if given is not None or not needed:
        return given
    made = token_urlsafe(32)
    note(f"token: {made}   (printed once; --token or ${TOKEN} sets one)")
    return made


def _sender(url: str, secret_file: Path | None) -> "WebhookSender":
    from jury_cases.artifact_hosts import parse_hosts
    from jury_events.errors import SettingError
    from jury_events.regular_files import read_failure, read_text
    from jury_judge.webhooks.sender import HOSTS, WebhookSender
    from jury_judge.webhooks.signature import webhook_secret

    if secret_file is not None:
        try:
            secret, place = read_text(secret_file, _MAX_SECRET), str(secret_file)
        except (OSError, ValueError) as error:
            raise SettingError(f"{secret_file}: {read_failure(error)}") from None
    else:
        secret, place = os.environ.get(WEBHOOK_SECRET, ""), f"${WEBHOOK_SECRET}"
        if not secret:
            raise SettingError(
                f"--on-review-needed signs its messages; give --webhook-secret FILE or ${WEBHOOK_SECRET}"
            )
    return WebhookSender(url, webhook_secret(secret, place), parse_hosts(os.environ.get(HOSTS, ""), HOSTS))


def _journal(store: "EventStore", file: Path | None, database: Path | None) -> "DeliveryJournal":
    from jury_events.errors import SettingError
    from jury_judge.webhooks.journal import DeliveryJournal

    if file is None and database is None:
        raise SettingError("--on-review-needed needs --deliveries FILE where the store is PostgreSQL")
    path = file or Path(f"{database}.deliveries.jsonl")
    return DeliveryJournal(path, store.last_position())


@asynccontextmanager
async def _delivering(
    store: "EventStore", sender: "WebhookSender | None", journal: "DeliveryJournal | None", stopping: asyncio.Event
) -> AsyncIterator[None]:
    """Send messages while the server runs; the attempt under way is waited for."""
    from jury_judge.webhooks.deliveries import ReviewDeliveries, deliver

    if sender is None or journal is None:
        yield
        return
    try:
        task = asyncio.create_task(deliver(ReviewDeliveries(store, journal, sender), stopping))
        try:
            yield
        finally:
            stopping.set()
            await task
    finally:
        journal.close()
