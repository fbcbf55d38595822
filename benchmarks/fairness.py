"""A small run beside a large one on one Ray cluster and one provider key: how much longer it takes than alone.

    uv run python benchmarks/fairness.py [--large 2000] [--small 20] [--rounds 3] [--latency 2] [--sigma 0.5]
        [--in-flight 128] [--discuss ROUNDS] [--json]

Both runs call the same simulated provider over HTTP, with one limit of calls at once, which the large run alone fills:
the small one begins once the large one has every slot, which is harder than beginning together. Times are from the
first to the last event of the small run, without the start of the command, medians of `--rounds` runs of each kind; of
fewer beside the large one, if that ends before them. With `--discuss` debates have rounds of discussion. Prints the
ratio of the time beside the large run to the time alone (target: at most 1.5).

The machine has to make `--in-flight` / `--latency` calls a second: if it cannot, what is measured is its CPU. With
`--sigma 0` every call takes equally long: then calls that began together end together, and a run that comes between
waits up to a whole call, in each phase of its debates. That is the worst case, not the usual one.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from secrets import token_hex
from statistics import median

from sqlalchemy import create_engine, text

from jury_actors.ray_cluster import MODE

JURY = str(Path(sys.executable).with_name("jury"))
SEATS = [{"juror_id": name, "model": "openai/gpt-5.4-mini", "fallbacks": []} for name in "abc"]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", type=int, default=2000)
    parser.add_argument("--small", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--latency", type=float, default=2.0)
    parser.add_argument("--sigma", type=float, default=0.5)
    parser.add_argument("--discuss", type=int, default=0, metavar="ROUNDS")
    parser.add_argument("--in-flight", type=int, default=128)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        server = subprocess.Popen(
            [
                JURY,
                "simulate",
                "--port",
                "0",
                "--latency",
                str(given.latency),
                "--sigma",
                str(given.sigma),
                "--scripted",
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert server.stdout is not None
            for _ in range(3):
                name, _, value = server.stdout.readline().strip().removeprefix("export ").partition("=")
                os.environ[name] = value
            os.environ |= {"OPENAI_API_KEY": "simulated", MODE: "token", "RAY_AUTH_TOKEN": token_hex(32)}
            found = measure(folder, given)
        finally:
            server.send_signal(signal.SIGINT)
            server.wait()
    alone, beside = median(found["alone"]), median(found["beside"])
    if given.json:
        print(json.dumps({**vars(given), **found, "ratio": beside / alone}))
    else:
        print(
            f"{given.small} debates: alone {alone:.2f} s, beside {given.large} debates {beside:.2f} s: "
            f"{beside / alone:.2f} times as long"
        )


def measure(folder: Path, given: argparse.Namespace) -> dict[str, list[float]]:
    """Seconds of each small run, `alone` and `beside` the large one."""
    import ray  # reads the environment when it is imported

    panel = {
        "preset": "parallel-rounds" if given.discuss else "independent",
        "discussion": {"max_rounds": given.discuss, "end_early": False} if given.discuss else {},
        "final": {"method": "majority_vote"},
        "providers": {"openai": {"limits": {"*": {"in_flight": given.in_flight}}}},
        "seats": SEATS,
    }
    (folder / "panel.json").write_text(json.dumps(panel))
    for name, count in (("small", given.small), ("large", given.large), ("warm", given.in_flight)):
        cases = ({"case_id": f"c{number}", "question": "Open?", "response": "At 9."} for number in range(count))
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    ray.init(address="local", include_dashboard=False, log_to_driver=False, logging_level="error")
    address = ray.get_runtime_context().gcs_address
    run(folder, address, "warm", "warm").wait()  # the limit of calls at once grows with answered calls
    alone = [small_run(folder, address, f"alone-{number}") for number in range(given.rounds)]
    large = run(folder, address, "large", "large")
    while large.poll() is None and events(folder, "large") < 5 * given.in_flight:
        time.sleep(0.1)
    beside = []
    for number in range(given.rounds):
        seconds = small_run(folder, address, f"beside-{number}")
        if large.poll() is not None:
            break
        beside.append(seconds)
    if not beside:
        sys.exit("the large run ended first: choose a larger one")
    for _ in range(2):
        large.send_signal(signal.SIGINT)
        time.sleep(1)
    large.wait()
    ray.shutdown()
    return {"alone": alone, "beside": beside}


def small_run(folder: Path, address: str, store: str) -> float:
    """Seconds from the first to the last event of a small run."""
    if run(folder, address, "small", store).wait():
        sys.exit((folder / f"{store}.err").read_text())
    return span(folder, store)


def run(folder: Path, address: str, cases: str, store: str) -> "subprocess.Popen[bytes]":
    """`jury run` on the cluster, with a store of its own."""
    return subprocess.Popen(
        [
            *(JURY, "run", str(folder / f"{cases}.jsonl"), "--panel", str(folder / "panel.json"), "--run", store),
            *("--ray-address", address, "--store", f"sqlite:///{folder / store}.db"),
            *("--concurrency", "1000", "--replicas", "1"),
        ],
        stdout=subprocess.DEVNULL,
        stderr=(folder / f"{store}.err").open("wb"),
    )


def events(folder: Path, store: str) -> int:
    """How many events the store has; 0 before it is there."""
    if not (folder / f"{store}.db").exists():
        return 0
    return int(_query(folder, store, "SELECT count(*) FROM events") or 0)


def span(folder: Path, store: str) -> float:
    """Seconds from the first to the last event."""
    return _query(folder, store, "SELECT max(recorded_at) - min(recorded_at) FROM events") / 1e6


def _query(folder: Path, store: str, query: str) -> float:
    engine = create_engine(f"sqlite:///{folder / store}.db")
    try:
        with closing(engine.connect()) as connection:
            return float(connection.execute(text(query)).scalar() or 0)
    except Exception as error:  # noqa: BLE001  (the tables are not there yet)
        return 0.0 if "no such table" in str(error) else sys.exit(str(error))
    finally:
        engine.dispose()


if __name__ == "__main__":
    main()
