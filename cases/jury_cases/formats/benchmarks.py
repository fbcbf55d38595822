"""Results of agent benchmarks: AgentDojo's runs, τ-bench's trajectories."""

from typing import Any

from jury_cases.draft import CaseDraft
from jury_cases.formats.format import Format
from jury_cases.formats.own_rows import read_own_row
from jury_cases.transcripts.builder import TranscriptBuilder
from jury_cases.transcripts.chat import read_chat
from jury_cases.transcripts.json_values import as_text

_DOJO = ("suite_name", "pipeline_name", "user_task_id", "injection_task_id", "attack_type", "utility", "security")


def _agentdojo(row: Any) -> CaseDraft:
    """One run of a user task, with or without attack. `utility` and `security` are the benchmark's results."""
    builder = TranscriptBuilder()
    read_chat(row.get("messages"), builder)
    draft = read_own_row({name: value for name, value in row.items() if name not in {"messages", "error"}})
    named = [
        row.get(name) for name in ("suite_name", "user_task_id", "injection_task_id", "attack_type", "pipeline_name")
    ]
    draft.case_id = draft.case_id or "-".join(str(one) for one in named if one not in (None, "none")) or None
    draft.built = builder
    draft.error = as_text(row.get("error")) or None
    draft.metadata = {**draft.metadata, **{name: row[name] for name in _DOJO if row.get(name) is not None}}
    draft.cluster = draft.cluster or row.get("user_task_id")
    return draft


def _tau(row: Any) -> CaseDraft:
    """One trial of a task; `reward` is the benchmark's result. τ²-bench names the trajectory `messages`."""
    builder = TranscriptBuilder()
    read_chat(row.get("traj") if row.get("traj") is not None else row.get("messages"), builder)
    reward = row.get("reward")
    if reward is None and isinstance(row.get("reward_info"), dict):
        reward = row["reward_info"].get("reward")
    draft = read_own_row({name: value for name, value in row.items() if name not in {"messages", "id"}})
    if draft.case_id is None and row.get("task_id") is not None:
        draft.case_id = f"task-{row['task_id']}-trial-{row.get('trial', 0)}"
    draft.built = builder
    draft.metadata = {**draft.metadata, "reward": reward, "trial": row.get("trial")}
    draft.policy = draft.policy or _policy(row.get("info"))
    draft.cluster = draft.cluster or (None if row.get("task_id") is None else f"task-{row['task_id']}")
    draft.agent_cost = row.get("agent_cost")
    return draft


def _policy(info: Any) -> Any:
    """The environment's policy in τ²-bench's `info`, if the row has it."""
    environment = info.get("environment_info") if isinstance(info, dict) else None
    return environment.get("policy") if isinstance(environment, dict) else None


def _is_tau(row: Any) -> bool:
    if not isinstance(row, dict):
        return False
    return isinstance(row.get("traj"), list) or ("task_id" in row and "reward_info" in row and "messages" in row)


AGENTDOJO = Format(
    "agentdojo",
    lambda row: isinstance(row, dict) and {"user_task_id", "messages"} <= row.keys(),
    _agentdojo,
    marks=frozenset({"user_task_id"}),
    recognised_by="`user_task_id` and `messages`",
    shows="the run; `utility` and `security` as metadata",
)
TAU_BENCH = Format(
    "tau-bench",
    _is_tau,
    _tau,
    lambda document: "simulations" if isinstance(document.get("simulations"), list) else None,
    marks=frozenset({"traj", "reward_info"}),
    lists=frozenset({"simulations"}),
    recognised_by="`traj`, or `reward_info`",
    shows="the trajectory with the user's own tool calls; `reward` as metadata",
)
