"""Writes a trajectory in ATIF with the models of `harbor`, which validate it. Needs Python 3.12 or later.

No agent is run: Harbor starts agents in containers.
"""

from typing import Any

from harbor.models.trajectories import Trajectory

from story import LOOK_UP, REFUND, SHIP, SYSTEM, Produced, ToolUse, case, not_shown, piece, target_folder


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


def happened() -> dict[str, Any]:
    pieces = [
        piece("M01system", "system"),
        piece("M02user", "user"),
        piece("M03reasoning", "reasoning"),
        piece("M04text", "assistant"),
        piece("M05call", "call", name=LOOK_UP.name),
        piece("M06call", "call", name=REFUND.name),
        piece("M07result", "result", name=LOOK_UP.name, call="M05call"),
        piece("M08failure", "result", name=REFUND.name, call="M06call"),
        piece("M09answer", "assistant"),
        piece("M10user", "user"),
        piece("M12call", "call", name=SHIP.name),
        piece("M25call", "call", name="delegate"),
        piece("M13result", "result", name=SHIP.name, call="M12call"),
        piece("main agent -> helper", "event"),
        piece("M20task", "event"),
        piece("M22reasoning", "reasoning", speaker="helper"),
        piece("M21text", "assistant", speaker="helper"),
        piece("M23call", "call", name="find", speaker="helper"),
        piece("M24result", "result", name="find", call="M23call"),
        piece("M26result", "result", name="delegate", call="M25call"),
        piece("M14answer", "assistant"),
        piece("M30notes", "event"),
    ]
    missing = [
        not_shown(None, "image/png in another file", "ATIF names files of pictures, and the trajectory has none."),
        not_shown(None, "continuation in another file", "Each file is read by itself."),
    ]
    return case(pieces, missing)


def main() -> None:
    produced = Produced(
        folder=target_folder(__file__), tool="Harbor (ATIF)", packages=("harbor",), source="published model"
    )
    produced.write_json("trajectory.json", trajectory())
    produced.add("trajectory.json", "a trajectory", [happened()])
    produced.write()


if __name__ == "__main__":
    main()
