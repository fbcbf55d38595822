"""One batch of so many lines, of which the one in the middle is bad: seconds and memory until its calls are free again.

    uv run python benchmarks/bad_line.py --lines 50000

OpenAI's SDK against simulated batches in a process of their own. `jury run --batch` puts 5,000 calls into
a batch at most.
"""

import argparse
import asyncio
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from jury_actors.batches.batch_lifecycle import BatchLifecycle
from jury_actors.batches.batch_log import BatchLog
from jury_actors.batches.wave_spool import FilledSpool, SpooledCall, a_nonce, custom_id
from jury_actors.clerk import Clerk
from jury_actors.effects import Effects
from jury_events.batch_facts import BatchFacts
from jury_events.panel import CallSettings
from jury_judge.stores.stores import open_writer
from jury_migrations.upgrading import upgrade
from jury_providers.batches.provider import BatchProvider
from jury_providers.batches.registry import batch_provider
from jury_providers.provider import ModelMessage, ModelRequest

_MODEL = "gpt-6-sol"
_KEY = "sk-test-benchmark.1"


def main() -> None:
    """Print a line for each part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=50_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, _models(Path(folder)) as variables:
        os.environ.update(variables, OPENAI_API_KEY=_KEY)
        asyncio.run(_measured(Path(folder), asked.lines))


async def _measured(folder: Path, lines: int) -> None:
    url = f"sqlite:///{folder / 'b.db'}"
    upgrade(url)
    store, provider = open_writer(url, run="b", wait=0.0, say=print), batch_provider("openai")
    with closing(Clerk(store)) as clerk:
        effects = Effects()
        lifecycle = BatchLifecycle("b", BatchLog(store, clerk, effects), clerk, lambda _: provider, say=print)
        began = time.monotonic()
        spool = _spool(provider, folder, lines, effects)
        began = _said(f"{lines:,} lines of {spool.size / 1e6:.0f} MB are written", began)
        facts: BatchFacts = await lifecycle.launch(spool, 1)
        began = _said("recorded and submitted", began)
        while facts.closed is None:
            facts = await lifecycle.advance(facts)
            await asyncio.sleep(0.2)
        _said(f"{facts.closed.cause}: {len(facts.unanswered):,} calls are free again", began)
        await provider.close()


def _spool(provider: BatchProvider, folder: Path, lines: int, effects: Effects) -> FilledSpool:
    nonce = a_nonce(effects)
    spool = FilledSpool("openai", _MODEL, nonce, folder / "spool.jsonl")
    with spool.path.open("wb") as file:
        for number in range(1, lines + 1):
            name = f"b~c{number}"
            messages = (ModelMessage("user", f"Refund order {number}. " * 40),)
            request = ModelRequest(_MODEL, messages, (), {"type": "object"}, CallSettings(max_output_tokens=100), name)
            line = provider.item(custom_id(nonce, number), request).line
            file.write(line + b"\n")
            spool.size += len(line) + 1
            exchange = f"initial/a/openai%2F{_MODEL}/1/1"
            spool.calls.append(SpooledCall(name, exchange, hashlib.sha256(line).hexdigest()))
    return spool


def _said(what: str, began: float) -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{what}: {time.monotonic() - began:.1f} s, {time.process_time():.0f} CPU-s, peak {peak:.0f} MB", flush=True)
    return time.monotonic()


@contextmanager
def _models(folder: Path) -> Iterator[dict[str, str]]:
    script = folder / "batches.json"
    script.write_text(json.dumps({"batches": ["bad_line"]}))
    command = [str(Path(sys.executable).with_name("jury")), "simulate", "--batch-script", str(script), "--scripted"]
    serving = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert serving.stdout is not None
        lines = [serving.stdout.readline().removeprefix("export ").strip() for _ in range(3)]
        yield dict(line.split("=", 1) for line in lines)
    finally:
        serving.terminate()
        serving.wait()


if __name__ == "__main__":
    main()
