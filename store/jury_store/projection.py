"""How the lists follow from the log: simple facts picked out of bodies, one event after another."""

import json
from collections.abc import Iterable
from typing import Any

from jury_events.envelope import StoredEvent
from jury_events.ids import stream_debate
from jury_events.parts import decode_digest
from jury_store.debate_rows import ENDED

Row = dict[str, Any]

_RUN_COUNTS = ("debates", "completed", "failed", "cancelled", "safe_pass", "needs_review", "unsafe_fail")


def touched(events: Iterable[StoredEvent]) -> set[str]:
    """The ids of the debates that these events belong to."""
    return {stream_debate(event.stream) for event in events}


def opened_run(event: StoredEvent) -> str | None:
    """The run of the debate that this event opens; None for any other event, and outside runs."""
    return json.loads(event.body)["run_id"] if event.type == "debate_opened" else None


class View:
    """Rows of debates and runs, carried forward. `debates` and `runs` must hold every row that the events touch."""

    def __init__(self, debates: dict[str, Row], runs: dict[str, Row]) -> None:
        self.debates = debates
        self.runs = runs

    def advance(self, events: Iterable[StoredEvent]) -> None:
        """Fold events, given in order of position, into the rows."""
        before: dict[str, Row | None] = {}
        for event in events:
            debate_id = stream_debate(event.stream)
            row = self.debates.get(debate_id)
            if debate_id not in before:
                before[debate_id] = dict(row) if row else None
            if row is None:
                if event.type != "debate_opened":
                    continue
                row = self.debates[debate_id] = _opened(debate_id, event)
            else:
                _fold(row, event)
            row["updated_at"] = max(row["updated_at"], event.recorded_at)
        for debate_id, old in before.items():
            if (new := self.debates.get(debate_id)) is not None:
                self._count(old, new)

    def _count(self, old: Row | None, new: Row) -> None:
        run_id = new["run_id"]
        if run_id is None:
            return
        run = self.runs.get(run_id)
        if run is None:
            run = self.runs[run_id] = {
                "run_id": run_id,
                "position": new["position"],
                **dict.fromkeys(_RUN_COUNTS, 0),
                "first_at": new["opened_at"],
                "last_at": new["updated_at"],
            }
        run["first_at"] = min(run["first_at"], new["opened_at"])
        run["last_at"] = max(run["last_at"], new["updated_at"])
        for name in _counted(new):
            run[name] += 1
        for name in _counted(old) if old else ():
            run[name] -= 1


def row_of(events: Iterable[StoredEvent]) -> Row | None:
    """The row that the events of one debate make, whatever a list says; None where they make none.

    `events` of both streams, in any order.
    """
    view = View({}, {})
    try:
        view.advance(sorted(events, key=lambda event: event.position))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None  # an event that cannot be read is for whoever verifies
    return next(iter(view.debates.values()), None)


def _counted(row: Row) -> tuple[str, ...]:
    """Under which of its run's counts a debate falls."""
    names = ["debates"]
    if row["status"] in ENDED:
        names.append(row["status"])
    if row["final_verdict"] in _RUN_COUNTS:
        names.append(row["final_verdict"])
    return tuple(names)


def _opened(debate_id: str, event: StoredEvent) -> Row:
    body = json.loads(event.body)
    return {
        "debate_id": debate_id,
        "position": event.position,
        "run_id": body["run_id"],
        "case_id": body["case_id"],
        "status": "evaluating",
        "rounds": 0,
        "method": body["panel"]["final"]["method"],
        "simulated": body["simulated"],
        "label": body["label"],
        # Bodies are folded as they are stored: schema 1 had none of these.
        "cluster": body.get("cluster"),
        "tags": tuple(body.get("tags", ())),
        "metadata": body.get("metadata", {}),
        "agent_cost": body.get("agent_cost"),
        "not_shown": sum(loss["count"] for loss in body.get("losses", ())),
        "case_part": decode_digest(body["case"]["part"]),
        "opened_at": event.recorded_at,
        "updated_at": event.recorded_at,
        "ended_at": None,
        "final_verdict": None,
        "final_score": None,
        "total_rounds": None,
        "early_termination": None,
        "end_reason": None,
        "decided_by": None,
        "quorum_met": None,
        "calls": 0,
        "input_tokens": 0,
        "output_tokens": 0,
        "cost": 0.0,
        "asked_again": 0,
    }


def _fold(row: Row, event: StoredEvent) -> None:
    fold = _FOLDS.get(event.type)
    if fold is not None:
        fold(row, event, json.loads(event.body))


def _exchange(row: Row, _event: StoredEvent, body: Row) -> None:
    usage = body["usage"]
    row["calls"] += 1
    row["simulated"] = row["simulated"] or body["simulated"]
    row["input_tokens"] += usage["input_tokens"] or 0
    row["output_tokens"] += usage["output_tokens"] or 0
    row["cost"] = None if row["cost"] is None or body["cost"] is None else row["cost"] + body["cost"]


def _round(row: Row, _event: StoredEvent, body: Row) -> None:
    row["status"] = "discussing"
    row["rounds"] = max(row["rounds"], body["round"])


def _check(row: Row, _event: StoredEvent, body: Row) -> None:
    row["status"] = "discussing" if body["end_reason"] is None else "judging"


def _judgment(row: Row, _event: StoredEvent, body: Row) -> None:
    judgment = body["judgment"]
    row["status"] = "judging"
    row["final_verdict"] = judgment["verdict"]
    row["final_score"] = judgment["score"]
    row["method"] = judgment["method"]
    row["decided_by"] = judgment["decided_by"]
    row["quorum_met"] = judgment["quorum_held"] >= judgment["quorum"]


def _completed(row: Row, event: StoredEvent, body: Row) -> None:
    row["status"] = "completed"
    row["ended_at"] = event.recorded_at
    for name in ("final_verdict", "final_score", "total_rounds", "early_termination", "end_reason"):
        row[name] = body[name]


def _failed(row: Row, event: StoredEvent, body: Row) -> None:
    row["status"] = "failed"
    row["ended_at"] = event.recorded_at
    row["end_reason"] = body["reason"]


def _cancelled(row: Row, event: StoredEvent, _body: Row) -> None:
    row["status"] = "cancelled"
    row["ended_at"] = event.recorded_at


def _resumed(row: Row, _event: StoredEvent, body: Row) -> None:
    row["asked_again"] += len(body["asked_again"])


_FOLDS = {
    "exchange_recorded": _exchange,
    "round_started": _round,
    "consensus_checked": _check,
    "judgment_rendered": _judgment,
    "debate_completed": _completed,
    "debate_failed": _failed,
    "debate_cancelled": _cancelled,
    "coordinator_resumed": _resumed,
}
