"""A program: debates on its own cluster, by real SDKs with a canary for a key; reports what Ray knows of it.

`python -m support.canary_on_ray STORE_URL` prints, as JSON, where Ray kept its session and in which tables of its state
the canary stands. The key reaches the workers as a user's would: through the environment.
"""

import asyncio
import json
import logging
import os
import sys

from jury_actors import (
    Job,
    LineHandler,
    MetricTotals,
    ObservationSettings,
    RunContext,
    RuntimeConfig,
    drive,
    ray_runtime,
)
from jury_debate import PanelSpec, resolve
from jury_judge import MetricsExposition
from jury_providers import WireScript, simulation_server
from support.runtime_harness import a_case_with_records

CANARY = "sk-canary-0123456789abcdef0123456789abcdef"

PANEL = {
    "seats": [
        {"model": "openai/gpt", "juror_id": "gpt"},
        {"model": "anthropic/claude", "juror_id": "claude"},
        {"model": "google/gemini", "juror_id": "gemini", "fallbacks": []},
    ],
    "discussion": {"max_rounds": 1},
    "final": {"judge": {"model": "openai-responses/judge"}},
}

TABLES = ("actor", "job", "worker", "node", "placement_group")


def state() -> dict[str, bytes]:
    """The cluster's tables, from which its state API answers, by table."""
    from ray._private.state import state as of_ray  # the API itself wants a dashboard

    of_ray._connect_and_get_accessor()
    accessor = of_ray._global_state_accessor
    found = {name: getattr(accessor, f"get_{name}_table") for name in TABLES}
    tables = {
        name: get(None, None)
        if name == "actor"
        else get()
        if name != "job"
        else get(skip_submission_job_info_field=True)
        for name, get in found.items()
    }
    tables["task_events"] = accessor.get_task_events()
    return {name: repr(table).encode() for name, table in tables.items()}


async def main(store_url: str) -> None:
    script = WireScript(scripted={"final": ("authentication",), "initial/B": ("rate_limited",)})
    async with simulation_server(script) as simulation:
        os.environ.update(simulation.variables)
        os.environ.update(dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"), CANARY))
        ray_runtime.start_ray()
        import ray

        session = ray._private.worker._global_node.get_session_dir_path()
        resolved = resolve(PanelSpec.model_validate(PANEL))
        job = Job("d0", a_case_with_records().model_dump_json().encode(), RunContext("run", resolved))
        totals = MetricTotals()
        plan = RuntimeConfig(
            (resolved.panel,), store_url, "run", observation=ObservationSettings(metrics=True, log_level=logging.DEBUG)
        )
        logging.getLogger("jury_actors").setLevel(logging.DEBUG)
        logging.getLogger().addHandler(LineHandler("driver"))
        async with ray_runtime.ray_runtime(plan, totals=totals) as runtime:
            finished = [one async for one in drive(runtime, iter([job]), concurrency=1)]
            tables = state()
        report = {
            "session": session,
            "actors": tables["actor"].count(b"JurorActor"),
            "seen": [name for name, table in tables.items() if CANARY.encode() in table],
            "finished": [(one.status, str(one.problem)) for one in finished],
            "requests": simulation.served.requests,
            "metrics": MetricsExposition(totals).page("").body.decode(),
        }
        ray_runtime.stop_ray()
    sys.stdout.write(json.dumps(report))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
