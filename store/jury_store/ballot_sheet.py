"""The ballots of one debate: a fold over its events, packed as one text a debate.

A ballot is one vote of one seat in one round, or the vote of the final judge. The packed text is JSON: `seats` and
`weights` of the panel, `models` (sorted), and one list a column, as long as there are ballots, sorted by round and by
the order of the seats:

    round, seat     the round (0: phase 1) and the index of the seat; the final judge has the index after the last
    kind            `own`, `stale`, `synthetic`, `abstained`, `conditional` (its own, of a seat that was asked because
                    others left the case open), `standing` (of a seat that votes in a round without speaking in it: its
                    earlier vote); null: the seat was asked, its vote is not recorded yet
    verdict, score, confidence, changed
    asked, answered indexes in `models`: of a stale or standing vote those of the vote that it repeats
    calls, input_tokens, output_tokens, cost    sums over the exchanges of the step
    verified, normalised, elsewhere, not_found  how many quotations of the evaluation the check found so
    decisive_item   the item that the evaluation names as the first that went wrong
    read_percent    of the record, that the evaluation rests on, rounded down; null: all of it, read in one call
    vote_label      the label of a scale of the panel's own; null where only an outcome stands

    before_reasoning, before_reasoning_label    verdict and label of the seat's vote before it was shown the agent's
                    reasoning, by which it judged again; calls, tokens and cost are those of both votes

Those of quotations are null where the evaluation was not asked for evidence. They and `read_percent` are left out
where they are null for every ballot, and so are those of votes before the reasoning; `vote_label`, and `final_label`,
which is of the judgment, where the panel judges in the three verdicts.
`conditional` has the indexes of the seats that are asked only where others leave the case open; left out without any.
`rounds` is how many rounds began. Events of the stream `calls/` may come before or after the vote that they led to: the
result is the same.
"""

import json
import marshal
import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import repeat
from typing import Any, ClassVar, Self, TypeVar

from jury_events.canonical import canonical_json
from jury_events.codec import SCHEMAS, upcast
from jury_events.envelope import StoredEvent
from jury_events.errors import EventError
from jury_events.evaluation import RESULTS, EvaluationFacts
from jury_events.ids import Step
from jury_events.panel import CARRIAGE
from jury_events.verdict import Verdict

UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, EventError)
"""Raised for an event body that does not match its type; `jury verify` reports such events."""

_VERDICTS = frozenset(Verdict)
_MOST_TOKENS, _MOST_DOLLARS, _MOST_CALLS = 2**53, 1e12, 2**31 - 1

_KIND, _VERDICT, _SCORE, _CONFIDENCE, _CHANGED, _ASKED, _ANSWERED, _CALLS, _INPUT, _OUTPUT, _COST = range(11)
_COLUMNS = (
    "kind",
    "verdict",
    "score",
    "confidence",
    "changed",
    "asked",
    "answered",
    "calls",
    "input_tokens",
    "output_tokens",
    "cost",
)
FURTHER_COLUMNS = (*RESULTS, "decisive_item", "read_percent")
"""The columns that a packed sheet lacks where they are null for every ballot."""

VOTE_LABEL, FINAL_LABEL = "vote_label", "final_label"
"""The column, and the value, that only sheets under a scale of the panel's own have."""

BEFORE_REASONING = ("before_reasoning", "before_reasoning_label")
"""The columns that only sheets of debates have in which seats were shown the agent's reasoning after a first vote."""

_CONDITIONAL = "conditional"
"""A kind of votes, and the value that only sheets of debates have in which seats may not be asked."""

_STANDING = "standing"

_FURTHER = len(_COLUMNS)
_MODELS = (_ASKED, _ANSWERED)
_UNQUOTED: tuple[None, ...] = (None,) * (len(RESULTS) + 1)
_NOT_ASKED: tuple[Any, ...] = (
    None,
    None,
    None,
    None,
    None,
    None,
    None,
    0,
    0,
    0,
    0.0,
    *_UNQUOTED,
    None,
    None,
    None,
    None,
)
_LABEL = len(_NOT_ASKED) - 3
_BEFORE = _LABEL + 1
_CARRIAGE = frozenset(CARRIAGE)

_BY_A_MODEL = frozenset({"own", "stale", "synthetic", _CONDITIONAL, _STANDING})
"""The kinds of votes whose evaluation names the model that was asked."""

_Ballot = list[Any]


class BallotSheet:
    """The ballots of a debate. After an event that cannot be read it has none: `packed` is None, for good.

    Attributes:
        panel: the fingerprint of the resolved panel: 16 hexadecimal digits.
    """

    __slots__ = (
        *("_ballots", "_conditional", "_final_label", "_index", "_judge", "_labels", "_latest", "_rounds", "_weights"),
        *("panel", "readable"),
    )

    def __init__(
        self,
        panel: str | None,
        seats: list[str],
        weights: list[float],
        *,
        labels: bool = False,
        conditional: Sequence[int] = (),
    ) -> None:
        self.panel = panel
        self._conditional = tuple(conditional)
        self._labels = labels
        self._final_label: str | None = None
        self.readable = True
        self._index = {seat: index for index, seat in enumerate(seats)}
        self._weights = weights
        self._ballots: dict[tuple[int, int], _Ballot] = {}
        self._judge: _Ballot | None = None
        self._rounds = 0
        self._latest: dict[int, tuple[int, _Ballot]] = {}

    @classmethod
    def opened(cls, event: StoredEvent, body: Callable[[], Any]) -> Self:
        """The sheet of a debate that this event opens; `body` decodes its body."""
        try:
            opened = upcast(event.type, event.schema, SCHEMAS[event.type], body())
            panel = opened["panel"]
            seats = [_name(seat["juror_id"]) for seat in panel["seats"]]
            weights = [_number(seat["weight"], math.inf) for seat in panel["seats"]]
            if len(set(seats)) < len(seats):
                raise ValueError("two seats have one id")
            asking = opened.get("asking") or {"order": [], "first": 0}
            later = sorted(map(seats.index, asking["order"][_count(asking["first"]) :]))
            labels = panel.get("scale") is not None
            return cls(panel_fingerprint(panel), seats, weights, labels=labels, conditional=later)
        except UNREADABLE:
            return cls._unreadable()

    @classmethod
    def unpacked(cls, panel: str | None, packed: str | None) -> Self:
        """The sheet as stored.

        Raises:
            ValueError, LookupError, TypeError: the text is not a packed sheet.
        """
        if packed is None:
            return cls._unreadable()
        found = json.loads(packed)
        sheet = cls(
            panel, found["seats"], found["weights"], labels=VOTE_LABEL in found, conditional=found.get(_CONDITIONAL, ())
        )
        sheet._final_label = found.get(FINAL_LABEL)
        models = [*found["models"], None]
        asked, answered = ([models[-1 if one is None else one] for one in found[_COLUMNS[name]]] for name in _MODELS)
        columns = [found[name] for name in _COLUMNS]
        columns[_ASKED], columns[_ANSWERED] = asked, answered
        nothing = [None] * len(found["round"])
        columns += [found.get(name, nothing) for name in (*FURTHER_COLUMNS, VOTE_LABEL, *BEFORE_REASONING)]
        judge = len(sheet._index)
        sheet._rounds = found["rounds"]
        for round_, seat, *ballot in zip(found["round"], found["seat"], *columns, strict=True):
            if seat == judge:
                sheet._judge = ballot
            else:
                sheet._ballots[round_, seat] = ballot
                if ballot[_VERDICT] is not None:  # in the order of the rounds
                    sheet._latest[seat] = (round_, ballot)
        return sheet

    @classmethod
    def _unreadable(cls) -> Self:
        sheet = cls(None, [], [])
        sheet.readable = False
        return sheet

    def packed(self) -> str | None:
        """The text to store; None if an event could not be read."""
        if not self.readable:
            return None
        keys = sorted(self._ballots)
        ballots = [self._ballots[key] for key in keys]
        rounds = [key[0] for key in keys]
        seats = [key[1] for key in keys]
        if self._judge is not None:
            ballots.append(self._judge)
            rounds.append(self._rounds)
            seats.append(len(self._index))
        columns = list(zip(*ballots, strict=True)) or list(repeat((), len(_NOT_ASKED)))
        models = sorted({model for name in _MODELS for model in columns[name] if model is not None})
        index: dict[str | None, int | None] = {model: number for number, model in enumerate(models)}
        index[None] = None
        for name in _MODELS:
            columns[name] = tuple(index[model] for model in columns[name])
        return _encode(
            {
                "seats": list(self._index),
                "weights": self._weights,
                "models": models,
                "rounds": self._rounds,
                "round": rounds,
                "seat": seats,
                **dict(zip(_COLUMNS, columns[:_FURTHER], strict=True)),
                **(dict(zip(FURTHER_COLUMNS, columns[_FURTHER:_LABEL], strict=True)) if _has_more(ballots) else {}),
                **(dict(zip(BEFORE_REASONING, columns[_BEFORE:], strict=True)) if any(columns[_BEFORE]) else {}),
                **({_CONDITIONAL: self._conditional} if self._conditional else {}),
                **({VOTE_LABEL: columns[_LABEL], FINAL_LABEL: self._final_label} if self._labels else {}),
            }
        )

    def fold(self, event: StoredEvent, body: Callable[[], Any]) -> None:
        """Take in an event of the debate; `body` decodes its body."""
        fold = self._FOLDS.get(event.type)
        if fold is None or not self.readable:
            return
        try:
            fold(self, body())
        except UNREADABLE:
            self._give_up()

    def _give_up(self) -> None:
        self.panel, self.readable = None, False
        self._index, self._weights, self._ballots, self._latest = {}, [], {}, {}
        self._judge, self._rounds, self._conditional = None, 0, ()
        self._labels, self._final_label = False, None

    def _ballot(self, round_: int, seat: int) -> _Ballot:
        ballot = self._ballots.get((round_, seat))
        if ballot is None:
            ballot = self._ballots[round_, seat] = list(_NOT_ASKED)
        return ballot

    def _judge_ballot(self) -> _Ballot:
        if self._judge is None:
            self._judge = list(_NOT_ASKED)
        return self._judge

    def _exchange(self, body: Any) -> None:
        round_, juror, _ = _parsed(body["step"])
        ballot = self._judge_ballot() if round_ is None else self._ballot(round_, self._index[juror])
        usage = body["usage"]
        model, cost = _name(body["model"]), body.get("cost")
        first = not ballot[_CALLS]
        ballot[_CALLS] = _at_most(ballot[_CALLS] + 1, _MOST_CALLS)
        if ballot[_KIND] not in _BY_A_MODEL:
            ballot[_ASKED] = model
        for name, counted in ((_INPUT, usage.get("input_tokens")), (_OUTPUT, usage.get("output_tokens"))):
            before = None if first else ballot[name]
            if counted is not None:
                before = _at_most((before or 0) + _count(counted), _MOST_TOKENS)
            ballot[name] = before
        if ballot[_COST] is not None:
            ballot[_COST] = (
                None if cost is None else _at_most(ballot[_COST] + _number(cost, _MOST_DOLLARS), _MOST_DOLLARS)
            )

    def _evaluated(self, body: Any) -> None:
        juror = body["juror_id"]
        before = self._ballots.get((0, self._index[juror]))
        position = (None, None) if before is None else _position(before)
        self._vote(0, juror, body["evaluation"])
        if body.get("reasoning"):
            self._ballots[0, self._index[juror]][_BEFORE:] = position

    def _stated(self, body: Any) -> None:
        round_ = body["round"]
        if _count(round_) == 0:
            raise ValueError("a statement in round 0")
        self._vote(round_, body["juror_id"], body["statement"]["evaluation"])

    def _vote(self, round_: int, juror: Any, evaluation: Any) -> None:
        seat = self._index[juror]
        ballot, before = self._ballot(round_, seat), self._before(round_, seat)
        _take(ballot, evaluation)
        if seat in self._conditional and ballot[_KIND] == "own":
            ballot[_KIND] = _CONDITIONAL
        ballot[_CHANGED] = None if before is None else _position(before) != _position(ballot)
        self._latest[seat] = (round_, ballot)

    def _abstained(self, body: Any) -> None:
        round_, juror, reasoning = _parsed(body["step"])
        if round_ is None:
            raise ValueError("an abstention of the final judge is part of the judgment")
        seat = self._index[juror]
        before = self._latest[seat][1] if reasoning and seat in self._latest else self._before(round_, seat)
        if before is None:
            self._ballot(round_, seat)[_KIND] = "abstained"
            return
        # As the rules count it: what replaces a blocked answer stays synthetic.
        kind = "synthetic" if before[_KIND] == "synthetic" else "stale"
        (before if reasoning else self._repeated(round_, seat, before))[_KIND] = kind

    def _before(self, round_: int, seat: int) -> _Ballot | None:
        latest = self._latest.get(seat)
        return latest[1] if latest is not None and latest[0] < round_ else None

    def _round(self, body: Any) -> None:
        round_ = _count(body["round"])
        self._rounds = max(self._rounds, round_)
        speakers = set(body["speaker_order"])
        for juror, seat in self._index.items():
            if juror not in speakers and (before := self._before(round_, seat)) is not None:
                self._repeated(round_, seat, before)[_KIND] = _STANDING

    def _repeated(self, round_: int, seat: int, before: _Ballot) -> _Ballot:
        ballot = self._ballot(round_, seat)
        ballot[_VERDICT:_CHANGED] = before[_VERDICT:_CHANGED]
        ballot[_LABEL] = before[_LABEL]
        ballot[_CHANGED] = False
        ballot[_ASKED], ballot[_ANSWERED] = before[_ASKED], before[_ANSWERED]
        self._latest[seat] = (round_, ballot)
        return ballot

    def _judged(self, body: Any) -> None:
        judgment = body["judgment"]
        judge, failure = judgment.get("judge"), judgment.get("judge_failure")
        if judge is not None:
            _take(self._judge_ballot(), judge)
        elif failure is not None:
            self._judge_ballot()[_KIND] = "abstained"
        self._final_label = _label(judgment)

    _FOLDS: ClassVar[dict[str, Callable[["BallotSheet", Any], None]]] = {
        "exchange_recorded": _exchange,
        "juror_evaluated": _evaluated,
        "juror_abstained": _abstained,
        "statement_made": _stated,
        "round_started": _round,
        "judgment_rendered": _judged,
    }


def panel_fingerprint(panel: Any) -> str:
    """16 hexadecimal digits: the start of the SHA-256 of a resolved panel (decoded JSON) as canonical JSON.

    Without its calibration: a calibrated panel votes as it did before. And without how calls are carried out and paid,
    and the windows of models.
    """
    final = {name: value for name, value in panel["final"].items() if name != "calibration"}
    judge = final.get("judge")
    if judge is not None:
        final["judge"] = _without_carriage(judge)
    seats = [_without_carriage(seat) for seat in panel["seats"]]
    # The debates of a run have one panel, and canonical JSON takes ten times as long as this.
    return _fingerprint(marshal.dumps({**panel, "seats": seats, "final": final}, 2))


def _without_carriage(place: Any) -> Any:
    settings = place["settings"]
    if "window" in place:
        place = {name: value for name, value in place.items() if name != "window"}
    if _CARRIAGE.isdisjoint(settings):
        return place
    return {**place, "settings": {name: value for name, value in settings.items() if name not in _CARRIAGE}}


@lru_cache(maxsize=64)
def _fingerprint(marshalled: bytes) -> str:
    return sha256(canonical_json(marshal.loads(marshalled))).hexdigest()[:16]  # noqa: S302  (made above)


def _take(ballot: _Ballot, evaluation: Any) -> None:
    synthetic, version = evaluation.get("synthetic", False), evaluation.get("model_version")
    if evaluation["verdict"] not in _VERDICTS:
        raise ValueError("not a verdict")
    ballot[_KIND] = "synthetic" if synthetic is True else "own"
    ballot[_VERDICT] = evaluation["verdict"]
    ballot[_SCORE] = _number(evaluation["overall"], 100)
    ballot[_CONFIDENCE] = _number(evaluation["confidence"], 1)
    ballot[_ASKED] = _name(evaluation["model"])
    ballot[_ANSWERED] = None if version is None else _name(version)
    facts, read = EvaluationFacts.read(evaluation), evaluation.get("reading")
    results = () if facts is None else [one.result for one in facts.quotations]
    quoted = _UNQUOTED if facts is None else (*map(results.count, RESULTS), facts.decisive_item)
    ballot[_FURTHER:_BEFORE] = *quoted, None if read is None else _percent(read), _label(evaluation)


def _has_more(ballots: list[_Ballot]) -> bool:
    return any(value is not None for ballot in ballots for value in ballot[_FURTHER:_LABEL])


def _percent(read: Any) -> int:
    total, part = _count(read["characters_total"]), _count(read["characters_read"])
    if part > total:
        raise ValueError("more was read than there is")
    return 100 * part // total if total else 100


def _position(ballot: _Ballot) -> tuple[Any, Any]:
    return ballot[_VERDICT], ballot[_LABEL]


def _label(body: Any) -> str | None:
    """That of an evaluation or a judgment; None under the three verdicts, and where only an outcome stands."""
    label = body.get("label")
    return None if label is None else _name(label)


@lru_cache(maxsize=4096)
def _parsed(step: str) -> tuple[int | None, str, bool]:
    round_, juror, reasoning = Step.parse(step)
    return None if round_ is None else _count(round_), juror or "", reasoning


def _name(text: Any) -> str:
    if not isinstance(text, str):
        raise TypeError("not a name")
    return _storable(text)


@lru_cache(maxsize=4096)
def _storable(text: str) -> str:
    if "\0" in text:
        raise ValueError("not a name")
    text.encode()
    return text


def _number(value: Any, most: float) -> float:
    if type(value) is float and 0 <= value <= most:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise ValueError("not a number in its range")
    return float(value)


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= _MOST_CALLS:  # a bool is no number here
        raise ValueError("not a number in its range")
    return value


_Sum = TypeVar("_Sum", int, float)


def _at_most(value: _Sum, most: float) -> _Sum:
    if value > most:
        raise ValueError("more than the column can hold")
    return value


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")).encode
