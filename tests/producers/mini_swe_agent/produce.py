"""Trajectories of mini-swe-agent in its three modes: the agent runs its commands; the model's answers are scripted."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

os.environ["MSWEA_SILENT_STARTUP"] = "1"

from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.test_models import (
    DeterministicModel,
    DeterministicResponseAPIToolcallModel,
    DeterministicToolcallModel,
    make_output,
    make_response_api_output,
    make_toolcall_output,
)

from story import Produced, target_folder

COMMANDS = ("cat notes{}; exit 3", "cat result{}")
"""What the agent runs; where commands are calls, each has a marker."""

FILES = {"notes": "M06output the notes", "result": "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\nM10submission"}
TEXTS = ("M04text I look.", "M08text It is done.")


def model(mode: str) -> Any:
    marks = ("", "") if mode == "text" else ("-M05call", "-M09call")
    commands = [command.format(mark) for command, mark in zip(COMMANDS, marks, strict=True)]
    steps = list(zip(TEXTS, commands, ("call_1", "call_2"), strict=True))
    if mode == "text":
        blocks = [f"{text}\n\n```mswea_bash_command\n{run}\n```" for text, run, _ in steps]
        written = [make_output(one, [{"command": run}]) for one, (_, run, _) in zip(blocks, steps, strict=True)]
        return DeterministicModel(outputs=written)
    actions = [{"command": run, "tool_call_id": call} for _, run, call in steps]
    if mode == "responses":
        outputs = [make_response_api_output(text, [one]) for text, one in zip(TEXTS, actions, strict=True)]
        return DeterministicResponseAPIToolcallModel(outputs=outputs)
    calls = [
        {"id": call, "type": "function", "function": {"name": "bash", "arguments": json.dumps({"command": run})}}
        for _, run, call in steps
    ]
    outputs = [make_toolcall_output(text, [one], [act]) for text, one, act in zip(TEXTS, calls, actions, strict=True)]
    return DeterministicToolcallModel(outputs=outputs)


def main() -> None:
    folder = target_folder(__file__)
    produced = Produced(folder=folder, tool="mini-swe-agent", packages=("mini-swe-agent",))
    for mode in ("text", "tools", "responses"):
        path = folder / f"{mode}.traj.json"
        place = Path(tempfile.mkdtemp())
        for name, content in FILES.items():
            for mark in ("", "-M05call", "-M09call"):
                (place / f"{name}{mark}").write_text(content + "\n", encoding="utf-8")
        agent = DefaultAgent(
            model(mode),
            LocalEnvironment(cwd=str(place)),
            system_template="M01system Run one command at a time.",
            instance_template="M02user {{task}}",
            output_path=path,
        )
        agent.run("Mend the parser.")
        saved = json.loads(path.read_text(encoding="utf-8"))
        saved["info"]["config"].pop("model")  # the script of the answers
        saved["info"]["config"].pop("environment")
        produced.write_json(path.name, saved)
        produced.add(path.name, f"trajectory, {mode}")
    produced.write()


if __name__ == "__main__":
    main()
