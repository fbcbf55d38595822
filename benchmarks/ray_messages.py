"""What a message between two Ray actors costs by how many are sent a second, without anything that this project does.

    uv run python benchmarks/ray_messages.py [--rates 10,30,100,300] [--seconds 20] [--json]

A driver sends 1 KB to each of four actors at the rate given, evenly spaced, and each passes it on to a fifth one, as
jurors pass on what they record. CPU-ms of all processes a message (two are counted for each that the driver sends),
less what the same processes spend while nothing is sent.
"""

import argparse
import asyncio
import json
import time
from typing import Any

import ray
from debates import processes

from jury_actors.ray_runtime import start_ray, stop_ray

JURORS = 4


@ray.remote(num_cpus=0, max_concurrency=1000)
class Receiver:
    """Takes messages, and passes them on if there is somebody to pass them on to."""

    def __init__(self, next_one: Any = None) -> None:
        self._next = next_one

    async def take(self, content: bytes) -> int:
        """The length of the content."""
        if self._next is not None:
            await self._next.take.remote(content)
        return len(content)


def cpu_seconds() -> float:
    """Of this process and everything below it."""
    return sum(seconds for _, seconds in processes().values())


async def measure(jurors: list[Any], rate: float, seconds: float) -> tuple[int, float]:
    """Messages sent and CPU seconds spent; a rate of 0 sends none."""
    before, started, sent = cpu_seconds(), time.perf_counter(), 0
    answers = []
    while (now := time.perf_counter() - started) < seconds:
        while rate and sent < now * rate * len(jurors):
            answers.append(asyncio.ensure_future(_asked(jurors[sent % len(jurors)])))
            sent += 1
        await asyncio.sleep(1 / (rate * len(jurors)) if rate else seconds)
    await asyncio.gather(*answers)
    return sent, cpu_seconds() - before


async def _asked(juror: Any) -> None:
    await juror.take.remote(bytes(1000))


async def report(rates: list[float], seconds: float) -> list[dict[str, float]]:
    """CPU-ms a message at each rate; the first row is of no message at all."""
    clerk = Receiver.remote()
    jurors = [Receiver.remote(clerk) for _ in range(JURORS)]
    await measure(jurors, 50, 5)
    _, idle = await measure(jurors, 0, seconds)
    found = [{"rate": 0.0, "cpu_ms_a_second": idle / seconds * 1000}]
    for rate in rates:
        sent, spent = await measure(jurors, rate, seconds)
        found.append({"rate": rate, "cpu_ms_a_message": (spent - idle) * 1000 / (2 * sent)})
    return found


def main() -> None:
    """Read the options, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rates", default="10,30,100,300", help="messages a second to each of the four actors")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    start_ray()
    rows = asyncio.run(report([float(rate) for rate in options.rates.split(",")], options.seconds))
    stop_ray()
    if options.json:
        print(json.dumps(rows))
        return
    print(f"nothing sent: {rows[0]['cpu_ms_a_second']:.0f} CPU-ms a second")
    for row in rows[1:]:
        print(f"{row['rate']:g} a second to each of {JURORS}: {row['cpu_ms_a_message']:.2f} CPU-ms a message")


if __name__ == "__main__":
    main()
