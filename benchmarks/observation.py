"""What observing costs: CPU a debate of 13 calls, unobserved, counted, logged and traced, in turn.

    uv run python benchmarks/observation.py [--debates 150] [--rounds 7] [--ray]

Every round runs each variant once, in another order, over an empty SQLite store. Printed: the median over rounds, the
least and the most, and the median of what a variant costs more than the unobserved debates of the same round. On Ray
the CPU of all processes is counted, and only counting is compared.
"""

import argparse
import asyncio
import logging
import os
import random
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from debates import jobs, processes
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from jury_actors.messages import RunContext
from jury_actors.observation.json_lines import LineHandler
from jury_actors.observation.process_observation import observation_settings, observed_here
from jury_actors.observation.tallies import MetricTotals
from jury_actors.runtime import Runtime, RuntimeConfig, drive, in_process_runtime
from jury_debate.panel_spec import PanelSpec
from jury_debate.resolved_panel import resolve
from jury_judge.metrics_text import MetricsExposition
from jury_judge.store_access.stores import open_writer
from jury_judge.telemetry.trace_export import TraceExport
from jury_migrations.upgrading import upgrade
from jury_providers.simulated.script import Script

_CONCURRENCY = 64
_SCRAPES = 5
"""Of a variant's debates."""


class _Discards(SpanExporter):
    """Takes every span: what is measured is their making, not a network."""

    def export(self, _spans: Sequence[Any]) -> SpanExportResult:
        return SpanExportResult.SUCCESS


@contextmanager
def logged(level: int) -> Iterator[None]:
    """JSON lines, to nowhere."""
    handler, package, stderr = LineHandler("driver"), logging.getLogger("jury_actors"), sys.stderr
    logging.getLogger().addHandler(handler)
    package.setLevel(level)
    with Path(os.devnull).open("w") as nowhere:
        sys.stderr = nowhere
        try:
            yield
        finally:
            sys.stderr = stderr
            logging.getLogger().removeHandler(handler)
            package.setLevel(logging.NOTSET)


def opened(plan: RuntimeConfig, variant: str, totals: MetricTotals | None) -> AbstractAsyncContextManager[Runtime]:
    """The runtime of a variant in this process."""

    @asynccontextmanager
    async def runtime() -> AsyncIterator[Runtime]:
        with observed_here(totals) as observer:
            opened = partial(open_writer, plan.store_url, run=plan.run_id, wait=0.0, say=print)
            async with in_process_runtime(plan, opened, say=print, observer=observer) as one:
                yield one

    if variant == "traces":
        runtime = TraceExport(plan.store_url, print, _Discards).around(runtime)
    return runtime()


async def execute(plan: RuntimeConfig, variant: str, context: RunContext, count: int, *, on_ray: bool) -> float:
    """CPU-ms a debate."""
    totals = MetricTotals() if variant == "metrics" else None
    if on_ray:
        from jury_actors.ray_runtime import ray_runtime

        entered: Any = ray_runtime(plan._replace(observation=observation_settings(totals)), totals=totals)
    else:
        entered = opened(plan, variant, totals)
    async with entered as runtime:
        async for _ in drive(runtime, jobs(20, RunContext("warm", context.resolved)), concurrency=_CONCURRENCY):
            pass
        before, ended = processes(), 0
        async for finished in drive(runtime, jobs(count, context), concurrency=_CONCURRENCY):
            assert finished.problem is None, finished.problem
            ended += 1
            if totals is not None and ended % (count // _SCRAPES) == 0:
                MetricsExposition(totals).page("")
        if variant != "traces":
            after = processes()
    if variant == "traces":
        after = processes()  # closing sends what waits
    spent = sum(seconds - before.get(pid, ("", 0.0))[1] for pid, (_, seconds) in after.items())
    return spent * 1000 / count


def measured(variant: str, count: int, *, on_ray: bool) -> float:
    """One round of one variant."""
    resolved = resolve(PanelSpec.model_validate({"discussion": {"max_rounds": 3, "threshold": 2.0}}))
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        url = f"sqlite:///{folder}/jury.db"
        upgrade(url)
        plan = RuntimeConfig((resolved.panel,), url, "bench", Script(answers="scripted"))
        if variant.startswith("logs"):
            stack.enter_context(logged(logging.DEBUG if variant.endswith("debug") else logging.INFO))
        return asyncio.run(execute(plan, variant, RunContext("bench", resolved), count, on_ray=on_ray))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--debates", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--ray", action="store_true")
    options = parser.parse_args()
    variants = ["off", "metrics"] if options.ray else ["off", "metrics", "logs at info", "logs at debug", "traces"]
    end: Callable[[], object] = lambda: None  # noqa: E731  (replaced where Ray runs)
    if options.ray:
        from jury_actors.ray_runtime import start_ray, stop_ray

        start_ray()
        end = stop_ray
    found: dict[str, list[float]] = {variant: [] for variant in variants}
    order = random.Random(1)
    for _ in range(options.rounds):
        for variant in order.sample(variants, len(variants)):
            found[variant].append(measured(variant, options.debates, on_ray=options.ray))
    end()
    print(f"CPU-ms a debate, {options.debates} debates, {options.rounds} rounds: median (least–most), more than off")
    for variant, values in found.items():
        more = statistics.median(value - off for value, off in zip(values, found["off"], strict=True))
        print(
            f"  {variant:<14} {statistics.median(values):6.2f} ({min(values):.2f}–{max(values):.2f})  {more:+.2f}"
            f" ({100 * more / statistics.median(found['off']):+.1f} %)"
        )


if __name__ == "__main__":
    main()
