"""Writes a trajectory in ATIF with the models of `harbor`, which validate it. Needs Python 3.12 or later.

No agent is run: Harbor starts agents in containers.
"""

from typing import Any

from harbor.models.trajectories import Trajectory

from story import LOOK_UP, REFUND, SHIP, SYSTEM, Produced, ToolUse, target_folder


def call(tool: ToolUse) -> dict[str, Any]:
    return {"tool_call_id": tool.call_id, "function_name": tool.name, "arguments": dict(tool.arguments)}


def result(tool: ToolUse) -> dict[str, Any]:
    return {"source_call_id": tool.call_id, "content": tool.output}


def agent(name: str) -> dict[str, Any]:
    return {"name": name, "version": "1.0", "model_name": "gpt-5"}


def trajectory() -> dict[str, Any]:
    """A run with parallel calls, a picture in a file, a sub-agent, and a continuation in another file."""
    helper = {
        "schema_version": "ATIF-v1.8",
        "trajectory_id": "helper-run",
        "agent": agent("helper"),
        "steps": [
            {"step_id": 1, "source": "user", "message": "M20task Find it."},
            {
                "step_id": 2,
                "source": "agent",
                "message": "M21text Found.",
                "reasoning_content": "M22reasoning There.",
                "tool_calls": [{"tool_call_id": "call_M23id", "function_name": "find", "arguments": {"a": "M23call"}}],
                "observation": {"results": [{"source_call_id": "call_M23id", "content": "M24result in a file"}]},
            },
        ],
    }
    picture = {"type": "image", "source": {"media_type": "image/png", "path": "images/one.png"}}
    delegated = {"tool_call_id": "call_M25id", "function_name": "delegate", "arguments": {"to": "M25call"}}
    answered = {
        "source_call_id": "call_M25id",
        "content": "M26result",
        "subagent_trajectory_ref": [{"trajectory_id": "helper-run"}],
    }
    steps = [
        {"source": "system", "message": SYSTEM},
        {"source": "user", "message": "M02user Refund my order."},
        {
            "source": "agent",
            "message": "M04text I look it up.",
            "reasoning_content": "M03reasoning First the order.",
            "tool_calls": [call(LOOK_UP), call(REFUND)],
            "observation": {"results": [result(LOOK_UP), result(REFUND)]},
            "metrics": {"prompt_tokens": 10, "completion_tokens": 5},
        },
        {"source": "agent", "message": "M09answer The refund failed."},
        {"source": "user", "message": [{"type": "text", "text": "M10user Another one like this."}, picture]},
        {
            "source": "agent",
            "message": "",
            "tool_calls": [call(SHIP), delegated],
            "observation": {"results": [result(SHIP), answered]},
        },
        {"source": "agent", "message": "M14answer It is on its way."},
    ]
    whole = {
        "schema_version": "ATIF-v1.8",
        "session_id": "session-1",
        "trajectory_id": "run-1",
        "agent": agent("shop"),
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, start=1)],
        "notes": "M30notes Run at night.",
        "final_metrics": {"total_cost_usd": 0.02},
        "continued_trajectory_ref": "trajectory.cont-1.json",
        "subagent_trajectories": [helper],
    }
    return Trajectory.model_validate(whole).to_json_dict()


def main() -> None:
    produced = Produced(
        folder=target_folder(__file__), tool="Harbor (ATIF)", packages=("harbor",), source="published model"
    )
    produced.write_json("trajectory.json", trajectory())
    produced.add("trajectory.json", "a trajectory")
    produced.write()


if __name__ == "__main__":
    main()
