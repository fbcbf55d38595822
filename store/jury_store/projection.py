"""The lists of debates and runs, folded from events: pure."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import MISSING, fields
from typing import Any, get_args

from pydantic_core import from_json

from jury_events.codec import STREAMS, LocalEvent, ReviewEvent, decode_review, types_of
from jury_events.conditions import Condition
from jury_events.envelope import StoredEvent
from jury_events.evaluation import EVIDENCE_VALUES, EvaluationFacts, EvidenceFacts, evidence_after
from jury_events.ids import OF_NO_DEBATE, RUN_PREFIX, stream_debate
from jury_events.judgment import sides_of, sides_text
from jury_events.ladder import aside
from jury_events.local_events import Imported, import_proof
from jury_events.parts import decode_digest
from jury_events.review_facts import ReviewFacts, relabelled
from jury_events.verdict import Verdict
from jury_store.ballot_sheet import UNREADABLE, BallotSheet
from jury_store.cached_calls import CachedCalls, summed
from jury_store.debate_rows import ENDED, DebateRow, row_fault

_PAIRS = tuple((field, value) for field, values in EVIDENCE_VALUES.items() for value in values)
_BITS = {pair: 1 << place for place, pair in enumerate(_PAIRS)}
"""A stored bit keeps its meaning: values of later versions come last, or the lists are rebuilt."""


def evidence_bits(facts: EvidenceFacts) -> int:
    """The bits of all values of a debate."""
    return sum([_BITS[field, value] for field, values in facts.values.items() for value in values])


def matching_bits(condition: Condition) -> int:
    """The bits of the values that a condition compares with success: with any of them, it holds; negated, it fails."""
    positive = condition._replace(operator="=" if condition.operator in {"=", "!="} else "~")
    return sum(
        bit for (field, value), bit in _BITS.items() if field == condition.field and positive.admits({field: (value,)})
    )


def decoded(body: bytes) -> Any:
    """The values of a JSON body; where it is none, the error of the standard library.

    Raises:
        ValueError, RecursionError: it is not JSON.
    """
    try:
        return from_json(body)  # takes less than half as long as the standard library
    except ValueError:
        return json.loads(body)  # knows surrogates and other encodings, and its errors stand in rows


Row = dict[str, Any]

RUN_COUNTS = ("debates", "waiting", "completed", "failed", "cancelled", *(verdict.value for verdict in Verdict))
_REOPENED = "run_reopened"
_LISTED = frozenset({"cases_listed", "list_completed"})
CASE_LABELLED = "case_labelled"
RUN_NEWS = frozenset({"cancel_requested", _REOPENED, *_LISTED})
_LARGEST = 2**31
_RUN_ID = re.compile(r"[A-Za-z0-9._-]{1,100}")


def debate_ids(events: Iterable[StoredEvent]) -> set[str]:
    """The ids of the debates of these events."""
    names: set[object] = {event.stream for event in events}
    return {
        stream_debate(name) for name in names if isinstance(name, str) and not name.startswith(OF_NO_DEBATE)
    }  # a SQLite column may contain any type


def run_news(events: Iterable[StoredEvent]) -> dict[str, Row]:
    """By run, the columns that these events of its stream set: who cancels it (None: a person reopens it), its size."""
    found: dict[str, Row] = {}
    for event in events:
        if event.type in RUN_NEWS and type(event.stream) is str and event.stream.startswith(RUN_PREFIX):
            columns = found.setdefault(stream_debate(event.stream), {})
            if event.type not in _LISTED:
                columns["cancelled_by"] = None if event.type == _REOPENED else _person(event)
            elif (cases := _size(event)) is not None:
                columns["cases"] = cases
    return found


def opened_run(event: StoredEvent) -> str | None:
    """The run of the debate that this event opens; None for any other event, and outside runs."""
    return _opened_run(event, _DecodedBody(event))


class ListProjection:
    """Rows of debates and runs by id. `debates` and `runs` must contain every row that the events update.

    A debate with an event that cannot be read becomes a row with the status `unreadable` and the reason; other debates
    are not affected. `ballots`, where they are wanted too, are those of `debates`.
    """

    def __init__(
        self, debates: dict[str, Row], runs: dict[str, Row], ballots: dict[str, BallotSheet] | None = None
    ) -> None:
        self.debates = debates
        self.runs = runs
        self.ballots = ballots

    def advance(
        self, events: Iterable[StoredEvent], load_runs: Callable[[Collection[str]], Mapping[str, Row]] = lambda _: {}
    ) -> None:
        """Fold events, given in order of position, into the rows.

        Args:
            events: whose debates' rows are in `debates`, where they exist.
            load_runs: returns the rows of those runs that exist, for runs that `runs` does not contain.
        """
        before: dict[str, tuple[str, ...]] = {}
        events = list(events)
        for event in events:
            if type(event.stream) is not str:  # in a SQLite column of any type; jury verify reports it
                continue
            if event.stream.startswith(OF_NO_DEBATE) or not event.stream.startswith(
                STREAMS.get(event.type, event.stream)
            ):
                continue
            debate_id = stream_debate(event.stream)
            row = self.debates.get(debate_id)
            if debate_id not in before:
                before[debate_id] = run_counts(row) if row else ()
            if row is not None:
                self._fold(row, event)
            elif event.type == "debate_opened":
                body = _DecodedBody(event)
                self.debates[debate_id] = _new_row(debate_id, event, body)
                if self.ballots is not None:
                    self.ballots[debate_id] = BallotSheet.opened(event, body)
        news = run_news(events)
        self._count_all(before, load_runs, news)
        for run_id in news.keys() & self.runs.keys():
            self.runs[run_id].update(news[run_id])

    def _count_all(
        self,
        before: dict[str, tuple[str, ...]],
        load_runs: Callable[[Collection[str]], Mapping[str, Row]],
        asked: Collection[str],
    ) -> None:
        changed = [debate_id for debate_id in before if debate_id in self.debates]
        for debate_id in changed:
            row = self.debates[debate_id]
            if (fault := row_fault(row)) is not None:
                self.debates[debate_id] = _unreadable_row(row, f"sum over its events: {fault}")
        runs = {*asked, *(self.debates[debate_id]["run_id"] for debate_id in changed)} - {None, *self.runs}
        self.runs.update(load_runs(runs) if runs else {})
        for debate_id in changed:
            self._count(before[debate_id], self.debates[debate_id])

    def _fold(self, row: Row, event: StoredEvent) -> None:
        body = _DecodedBody(event)
        _fold(row, event, body)
        if self.ballots is not None:
            self.ballots[row["debate_id"]].fold(event, body)

    def _count(self, before: tuple[str, ...], new: Row) -> None:
        run_id = new["run_id"]
        if run_id is None:
            return
        run = self.runs.get(run_id)
        if run is None:
            run = self.runs[run_id] = {
                "run_id": run_id,
                "position": new["position"],
                **dict.fromkeys(RUN_COUNTS, 0),
                "first_at": new["opened_at"],
                "begun_at": new["begun_at"],
                "last_at": new["updated_at"],
                "cancelled_by": None,
                "cases": None,
            }
        # Another debate's call may be recorded before its opening, and that opening after this one.
        run["position"] = min(run["position"], new["position"])
        run["first_at"] = min(run["first_at"], new["opened_at"])
        run["last_at"] = max(run["last_at"], new["updated_at"])
        if new["begun_at"] is not None:
            run["begun_at"] = min(run["begun_at"] or new["begun_at"], new["begun_at"])
        for name in run_counts(new):
            run[name] += 1
        for name in before:
            run[name] -= 1


def row_of(events: Iterable[StoredEvent]) -> Row | None:
    """The row of one debate, computed from its events; None where they do not make one.

    `events` of all its streams, in any order.
    """
    return projected(events)[0]


def projected(events: Iterable[StoredEvent]) -> tuple[Row | None, BallotSheet | None]:
    """The same, with the debate's ballots."""
    projection = ListProjection({}, {}, {})
    try:
        projection.advance(sorted(events, key=lambda event: event.position))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None, None  # jury verify reports an event that cannot be read
    row = next(iter(projection.debates.values()), None)
    return row, None if row is None or projection.ballots is None else projection.ballots[row["debate_id"]]


def run_counts(row: Row) -> tuple[str, ...]:
    """The run's counts that include a debate, by `status`, `final_verdict` and `quarantined`."""
    return () if row["quarantined"] is not None else outcome_counts(row)


def outcome_counts(row: Row) -> tuple[str, ...]:
    """The same, ignoring the quarantine; none of a debate that does not count for its case.

    One that waits is counted as such, and as nothing else.
    """
    if row["aside"] is not None:
        return ()
    if row["waiting"]:
        return ("waiting",)
    names = ["debates"]
    if row["status"] in ENDED:
        names.append(row["status"])
    if row["status"] != "unreadable" and row["final_verdict"] in RUN_COUNTS:
        names.append(row["final_verdict"])
    return tuple(names)


def _new_row(debate_id: str, event: StoredEvent, body: "_DecodedBody") -> Row:
    # A SQLite integer column may contain text that another program wrote.
    at = event.recorded_at if type(event.recorded_at) is int else 0
    ids = {"debate_id": debate_id, "position": event.position, "run_id": _opened_run(event, body)}
    unreadable = {**_DEFAULTS, **ids, "opened_at": at, "updated_at": at}
    try:
        row = {**unreadable, **_opened(unreadable["run_id"], body())}
    except UNREADABLE as error:
        return _unreadable_row(unreadable, _problem(event, error))
    fault = row_fault(row)
    return row if fault is None else _unreadable_row(unreadable, _problem(event, fault))


def _unreadable_row(row: Row, problem: str) -> Row:
    kept = (
        "debate_id",
        "position",
        "run_id",
        "opened_at",
        "imported",
        "imported_from",
        "quarantined",
        *_REVIEW_COLUMNS,
    )
    return {**_DEFAULTS, **{name: row[name] for name in kept}, "updated_at": row["opened_at"], "problem": problem}


def _problem(event: StoredEvent, error: object) -> str:
    message = f"{type(error).__name__} {error}" if isinstance(error, Exception) else str(error)
    # The message may quote the body, at any length and with any character.
    return f"event {event.version} of {event.stream}: {ascii(message)[1:-1][:200]}"


_DEFAULTS: Row = {
    **{one.name: one.default for one in fields(DebateRow) if one.default is not MISSING},
    "debate_id": "",
    "position": 0,
    "run_id": None,
    "case_id": "",
    "status": "unreadable",
    "waiting": False,
    "rounds": 0,
    "method": "",
    "simulated": False,
    "label": None,
    "case_part": b"",
    "opened_at": 0,
    "updated_at": 0,
    "metadata": {},
}


def _opened(run_id: str | None, body: Row) -> Row:
    if body.get("run_id") != run_id:
        raise ValueError("run_id: not a run id")
    return {
        "case_id": body["case_id"],
        "status": "waiting",
        "waiting": True,
        "rounds": 0,
        "method": body["panel"]["final"]["method"],
        "simulated": body["simulated"],
        "label": body.get("label"),
        "cluster": body.get("cluster"),
        "tags": tuple(body["tags"]),
        "metadata": body["metadata"],
        "agent_cost": body.get("agent_cost"),
        "models": _models(body["panel"]),
        "not_shown": sum(omission["count"] for omission in body["omissions"]),
        "case_part": decode_digest(body["case"]["part"]),
        **_stage(body.get("stage")),
    }


def _stage(place: Row | None) -> Row:
    if place is None:
        return {}
    return {"stage": place["number"], "stages": place["of"], "aside": "audit" if place["audit"] else None}


def _set_aside(row: Row, *, completed: bool) -> None:
    if row["stage"] is not None:
        place = {"number": row["stage"], "of": row["stages"], "audit": row["aside"] == "audit"}
        row["aside"] = aside(place, completed=completed, accepted=row["accepted"])


def _models(panel: Any) -> tuple[str, ...]:
    seats = [*panel["seats"], *filter(None, (panel["final"].get("judge"),))]
    return tuple(dict.fromkeys(seat["model"] for seat in seats))


def _person(event: StoredEvent) -> str:
    try:
        return str(decoded(event.body)["by"])
    except UNREADABLE:
        return "?"


def _size(event: StoredEvent) -> int | None:
    try:
        cases = decoded(event.body).get("cases")
    except UNREADABLE:
        return None
    return cases if type(cases) is int and 0 <= cases < _LARGEST else None


def _opened_run(event: StoredEvent, body: "_DecodedBody") -> str | None:
    if event.type != "debate_opened":
        return None
    try:
        run_id = body().get("run_id")
    except UNREADABLE:
        return None
    return run_id if isinstance(run_id, str) and _RUN_ID.fullmatch(run_id) else None


class _DecodedBody:
    """The body of an event, decoded once, when it is first asked for."""

    __slots__ = ("_body", "_event")

    def __init__(self, event: StoredEvent) -> None:
        self._event = event
        self._body: Any = self

    def __call__(self) -> Any:
        """The decoded body; raises an error of `UNREADABLE` where it is not JSON."""
        if self._body is self:
            self._body = decoded(self._event.body)
        return self._body


def _fold(row: Row, event: StoredEvent, body: _DecodedBody) -> None:
    fold = _FOLDS.get(event.type)
    if row["status"] == "unreadable" and event.type not in _BESIDE:
        return
    try:
        if fold is not None and not (event.type in _EVALUATIONS and _asked_for_nothing(row, event)):
            fold(row, event, body())
        if event.type not in _BESIDE:
            row["updated_at"] = max(row["updated_at"], event.recorded_at)
    except UNREADABLE as error:
        row["status"], row["waiting"], row["problem"] = "unreadable", False, _problem(event, error)


def _begun(row: Row, event: StoredEvent, _body: Row) -> None:
    row["status"], row["waiting"] = "evaluating", False
    row["begun_at"] = event.recorded_at


def _forked(row: Row, _event: StoredEvent, body: Row) -> None:
    row["inherited_steps"] = tuple(body["steps"])


def _exchange(row: Row, _event: StoredEvent, body: Row) -> None:
    row["simulated"] = row["simulated"] or body["simulated"]
    if body["step"] in (row["inherited_steps"] or ()):
        return  # a copy: the call was made by the debate that this one is a fork of
    usage = body["usage"]
    row["calls"] += 1
    row["input_tokens"] += usage.get("input_tokens") or 0
    row["output_tokens"] += usage.get("output_tokens") or 0
    row["cached_input_tokens"] += usage.get("cached_input_tokens") or 0
    row["cache_write_tokens"] += sum([one["tokens"] for one in usage["cache_writes"]])
    if (cached := CachedCalls.of(body)) is not None:
        row["cached_calls"] = summed((*row["cached_calls"], cached))
    cost = body.get("cost")
    row["cost"] = None if row["cost"] is None or cost is None else row["cost"] + cost


def _evaluated(row: Row, _event: StoredEvent, body: Row) -> None:
    _quoted(row, body["juror_id"], body["evaluation"])


def _stated(row: Row, _event: StoredEvent, body: Row) -> None:
    _quoted(row, body["juror_id"], body["statement"]["evaluation"])


def _asked_for_nothing(row: Row, event: StoredEvent) -> bool:
    """Whether neither the debate so far nor this evaluation has evidence: then its body need not be decoded."""
    return row["evidence"] is None and b'"evidence"' not in event.body


def _quoted(row: Row, juror_id: str | None, evaluation: Row) -> None:
    facts = row["evidence"] = evidence_after(row["evidence"], juror_id, EvaluationFacts.read(evaluation))
    row["evidence_values"] = None if facts is None else evidence_bits(facts)


def _round(row: Row, _event: StoredEvent, body: Row) -> None:
    row["status"] = "discussing"
    row["rounds"] = max(row["rounds"], body["round"])


def _check(row: Row, _event: StoredEvent, body: Row) -> None:
    row["status"] = "discussing" if body.get("end_reason") is None else "judging"


def _judgment(row: Row, _event: StoredEvent, body: Row) -> None:
    judgment = body["judgment"]
    if judgment.get("judge") is not None:
        _quoted(row, None, judgment["judge"])
    row["status"] = "judging"
    row["final_verdict"] = judgment["verdict"]
    row["final_label"] = judgment.get("label")
    row["final_score"] = judgment.get("score")
    row["method"] = judgment["method"]
    row["decided_by"] = judgment["decided_by"]
    row["quorum_met"] = judgment["quorum_votes"] >= judgment["quorum"]
    # Only panels with a calibration have it.
    acceptance = judgment.get("acceptance")
    row["accepted"] = None if acceptance is None else acceptance["accepted"]
    # Left out of votes of seats that read all.
    not_read = {vote["juror_id"]: tuple(vote["partly_read"]) for vote in judgment["votes"] if vote.get("partly_read")}
    row["partly_read"] = not_read or None
    sides = sides_of(vote.get("label") or vote.get("position") for vote in judgment["votes"])
    row["sides"], row["agreement"] = sides_text(sides), sides[0] / sum(sides) if sum(sides) > 1 else None


def _over(row: Row, event: StoredEvent, status: str) -> None:
    row["status"], row["waiting"] = status, False
    row["ended_at"] = event.recorded_at


def _completed(row: Row, event: StoredEvent, body: Row) -> None:
    _over(row, event, "completed")
    for name in ("final_verdict", "total_rounds", "early_termination", "end_reason"):
        row[name] = body[name]
    row["final_score"], row["final_label"] = body.get("final_score"), body.get("final_label")
    _set_aside(row, completed=True)


def _failed(row: Row, event: StoredEvent, body: Row) -> None:
    _over(row, event, "failed")
    row["end_reason"] = body["reason"]
    _set_aside(row, completed=False)


def _replaced(row: Row, _event: StoredEvent, _body: Row) -> None:
    row["aside"] = "replaced"


def _cancelled(row: Row, event: StoredEvent, _body: Row) -> None:
    _over(row, event, "cancelled")


def _resumed(row: Row, _event: StoredEvent, body: Row) -> None:
    row["asked_again"] += len(body["repeated_steps"])


def _imported(row: Row, _event: StoredEvent, body: Row) -> None:
    how = import_proof(body.get("seal"), body.get("verified_with"))
    if all(body[stream]["until"] == body[stream]["after"] for stream in ("debate", "calls")):
        pass  # nothing but reviews came
    elif row["imported"] is None:
        row["imported"], row["imported_from"] = how, body.get("sealed_by")
    else:
        row["imported"] = min(row["imported"], how, key=get_args(Imported).index)  # the weakest proof of origin
    # The reviews of an import come before the event that records it.
    if how != "verified":
        reviews = body["review"]
        _set_reviews(row, _reviews(row).arrived(reviews["after"], reviews["until"]))


def _quarantined(row: Row, _event: StoredEvent, body: Row) -> None:
    row["quarantined"] = body["reason"]


def _released(row: Row, _event: StoredEvent, _body: Row) -> None:
    row["quarantined"] = None


def _reviewed(row: Row, event: StoredEvent, _body: Row) -> None:
    facts = _reviews(row).after(decode_review(event), event.recorded_at)
    if facts.labelled is None:
        _set_reviews(row, facts)
    elif row["status"] != "unreadable":
        row["label"] = facts.labelled.label and facts.labelled.label.value
        row["metadata"] = relabelled(row["metadata"], facts.labelled.metadata)


def _reviews(row: Row) -> ReviewFacts:
    return ReviewFacts(row["reviews"], row["assignments"])


def _set_reviews(row: Row, facts: ReviewFacts) -> None:
    row["reviews"], row["assignments"] = facts.reviews, facts.assignments
    row["human_verdict"] = None if facts.verdict is None else facts.verdict.value


_EVALUATIONS = types_of("position")
_REVIEW_COLUMNS = ("human_verdict", "reviews", "assignments")
_REVIEWS = tuple(one.model_fields["type"].default for one in ReviewEvent.__args__)
_BESIDE = frozenset((*_REVIEWS, *(one.model_fields["type"].default for one in LocalEvent.__args__)))
"""Events about a debate that are not part of it."""

_FOLDS = {
    "debate_begun": _begun,
    "debate_forked": _forked,
    "exchange_recorded": _exchange,
    "juror_evaluated": _evaluated,
    "statement_made": _stated,
    "round_started": _round,
    "consensus_checked": _check,
    "judgment_rendered": _judgment,
    "debate_completed": _completed,
    "debate_failed": _failed,
    "debate_replaced": _replaced,
    "debate_cancelled": _cancelled,
    "coordinator_resumed": _resumed,
    "debate_imported": _imported,
    "debate_quarantined": _quarantined,
    "debate_released": _released,
    **dict.fromkeys(_REVIEWS, _reviewed),
}
