"""Names of streams, steps and exchanges. All are deterministic: a repeat has the same id.

A step is one task of one seat: `initial/{juror}`, `reasoning/{juror}`, `round-{n}/{juror}`, `final`.
An exchange is one attempt of one model call: `{step}/{model}/{turn}/{try}` in the stream `calls/{debate}`. Where a step
reads in windows, `{turn}` is `{window}:{turn}`.
Slashes and percent signs inside a juror or model name are escaped, so an id splits in one way only.
"""

import hashlib
import re
from functools import lru_cache
from typing import NamedTuple, Self

RUN_ID = "[A-Za-z0-9._-]{1,100}"
DEBATE_ID = "[A-Za-z0-9._~-]{1,220}"
"""Ids of runs and debates, as regular expressions: safe in a URL's path and in a file's name.

A new id must be reachable by a URL too (`jury_events.value.reachable`); old logs may have others.
"""

DEBATE_PREFIX = "debate/"
CALLS_PREFIX = "calls/"
LOCAL_PREFIX = "local/"
REVIEW_PREFIX = "review/"
BATCHES_PREFIX = "batches/"
RUN_PREFIX = "run/"
DRIFT_PREFIX = "drift/"

PREFIXES = (DEBATE_PREFIX, CALLS_PREFIX, REVIEW_PREFIX, LOCAL_PREFIX, BATCHES_PREFIX)
"""Of the streams of debates and batches, in the order in which a debate's streams are read. A batch has one stream, and
no debate has it."""

OF_NO_DEBATE = (RUN_PREFIX, DRIFT_PREFIX)
"""Of streams that belong to no debate, and have no texts."""

KNOWN_PREFIXES = (*PREFIXES, *OF_NO_DEBATE)
"""Of every stream of a log."""

_SAFE_CASE = re.compile(r"[A-Za-z0-9._-]{1,100}")
MOST_REPEATS = 99_999
"""Of one case in one run."""

_REPEAT = re.compile(r"(.+)~([2-9]|[1-9][0-9]{1,4})")
_STAGE = re.compile(r"(.+~.+)~s[2-9]")
_AGAIN = re.compile(r"(.+~.+)~a([2-9]|[1-9][0-9]{1,4})")
_BATCH = re.compile(r"[A-Za-z0-9._-]{1,100}~batch~[a-z2-7]{26}")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def is_run_id(text: str) -> bool:
    """Whether a run in a log may have that id."""
    return re.fullmatch(RUN_ID, text) is not None


def is_debate_id(text: str) -> bool:
    """Whether a debate in a log may have that id."""
    return re.fullmatch(DEBATE_ID, text) is not None


def debate_stream(debate_id: str) -> str:
    """The stream of the debate's events."""
    return DEBATE_PREFIX + debate_id


def calls_stream(debate_id: str) -> str:
    """The stream of its model calls."""
    return CALLS_PREFIX + debate_id


def local_stream(debate_id: str) -> str:
    """The stream of what this store did with the debate; it is in no cassette."""
    return LOCAL_PREFIX + debate_id


def review_stream(debate_id: str) -> str:
    """The stream of what people said of the debate."""
    return REVIEW_PREFIX + debate_id


def batch_id(run_id: str, nonce: str) -> str:
    """The id of a batch of calls of a run. No debate of the run has it: a nonce has more digits than a hash."""
    return f"{run_id}~batch~{nonce}"


def batch_stream(batch_id: str) -> str:
    """The stream of a batch of calls: what was sent to its provider, and how far it is."""
    return BATCHES_PREFIX + batch_id


def run_stream(run_id: str) -> str:
    """The stream of a run: what belongs to none of its debates."""
    return RUN_PREFIX + run_id


def drift_stream(drift_id: str) -> str:
    """The stream of a baseline and its checks."""
    return DRIFT_PREFIX + drift_id


def is_batch(owner: str) -> bool:
    """Whether an id is a batch's, not a debate's."""
    return _BATCH.fullmatch(owner) is not None


def owner_stream(owner: str) -> str:
    """The stream that records which texts of a debate or a batch were erased."""
    return batch_stream(owner) if is_batch(owner) else debate_stream(owner)


def streams_of(debate_id: str) -> tuple[str, ...]:
    """All streams of a debate."""
    return tuple(prefix + debate_id for prefix in PREFIXES)


def portable_streams(debate_id: str) -> tuple[str, ...]:
    """The streams of a debate, or the stream of a batch, that go to other stores, in the order of a cassette."""
    if is_batch(debate_id):
        return (batch_stream(debate_id),)
    return debate_stream(debate_id), calls_stream(debate_id), review_stream(debate_id)


def stream_debate(stream: str) -> str:
    """The id of the debate that a stream belongs to; of a stream without one, its batch, run or baseline."""
    return stream.split("/", 1)[1]


def debate_id(run_id: str, case_id: str) -> str:
    """The id of a case's debate in a run: `{run}~{case}`, with a slug and a hash of a case id that is not URL-safe."""
    if _SAFE_CASE.fullmatch(case_id):
        return f"{run_id}~{case_id}"
    digest = hashlib.sha256(case_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    slug = _UNSAFE.sub("-", case_id).strip("-")[:60] or "case"
    return f"{run_id}~{slug}~{digest}"


def repeat_id(debate: str, repeat: int) -> str:
    """The id of a repeat of a case's debate: the first is `debate`, the others are `{debate}~2`, `{debate}~3`, …

    No case has such an id: `~` is not in a slug, and a hash has 16 digits, more than the number of any repeat.
    """
    return debate if repeat == 1 else f"{debate}~{repeat}"


def stage_id(debate: str, stage: int) -> str:
    """The id of the debate of a stage: of the first it is `debate`, a repeat's too; then `{debate}~s2`, …

    So stage 3 of repeat 2 is `{run}~{case}~2~s3`. No case has such an id: `~` is not in a slug, and `s` not in a hash.
    """
    return debate if stage == 1 else f"{debate}~s{stage}"


def again_id(debate: str) -> str:
    """The id of the debate that judges the case again: `{debate}~a2`, after that `{debate}~a3`, …

    The first debate of no case has such an id: that of a case `a2` is `{run}~a2`, and a hash has 16 digits.
    """
    found = _AGAIN.fullmatch(debate)
    return f"{debate}~a2" if found is None else f"{found[1]}~a{int(found[2]) + 1}"


def replaced_id(debate: str) -> str | None:
    """The inverse of `again_id`: the id of the debate whose place this one takes; None: it is the first."""
    found = _AGAIN.fullmatch(debate)
    if found is None:
        return None
    return found[1] if found[2] == "2" else f"{found[1]}~a{int(found[2]) - 1}"


def first_of(debate: str) -> str:
    """The id of the first debate of the case at the stage: this one unless the case was judged again."""
    found = _AGAIN.fullmatch(debate)
    return debate if found is None else found[1]


def first_stage_of(debate: str) -> str:
    """The inverse of `stage_id`: the id of the first debate of the first stage."""
    debate = first_of(debate)
    found = _STAGE.fullmatch(debate)
    return debate if found is None else found[1]


def repeat_of(debate: str, run_id: str | None, case_id: str) -> int:
    """Which repeat a debate is, from its id: 1 unless it, or its first stage, is `repeat_id` of the case's debate in
    the run.
    """
    debate = first_stage_of(debate)
    found = _REPEAT.fullmatch(debate) if run_id is not None else None
    return int(found[2]) if found is not None and run_id is not None and found[1] == debate_id(run_id, case_id) else 1


def escape(segment: str) -> str:
    """One segment of an id, without a slash."""
    return segment.replace("%", "%25").replace("/", "%2F")


def unescape(segment: str) -> str:
    """The inverse of `escape`."""
    return segment.replace("%2F", "/").replace("%25", "%")


class Step(NamedTuple):
    """One task of one seat. `round` is 0 in phase 1, None for the final judge, whose `juror_id` is None too.

    `reasoning`: the seat judges once more in phase 1, and is shown the agent's reasoning.
    """

    round: int | None
    juror_id: str | None
    reasoning: bool = False

    @property
    @lru_cache(maxsize=4096)  # noqa: B019  (a step is a small tuple)
    def id(self) -> str:
        """Its id in events and exchanges."""
        if self.juror_id is None:
            return "final"
        phase = f"round-{self.round}" if self.round else "reasoning" if self.reasoning else "initial"
        return f"{phase}/{escape(self.juror_id)}"

    @classmethod
    def parse(cls, step_id: str) -> Self:
        """The inverse of `id`; ValueError for anything else."""
        if step_id == "final":
            return cls(None, None)
        phase, slash, juror = step_id.partition("/")
        if slash and juror and "/" not in juror:
            if phase in {"initial", "reasoning"}:
                return cls(0, unescape(juror), phase == "reasoning")
            if (found := re.fullmatch(r"round-([1-9][0-9]*)", phase)) is not None:
                return cls(int(found.group(1)), unescape(juror))
        raise ValueError(f"not a step id: {step_id!r}")


FINAL = Step(None, None)


@lru_cache(maxsize=4096)
def exchange_id(step_id: str, model: str, turn: int, attempt: int, window: str | None = None) -> str:
    """The id of one attempt; turns and attempts count from 1. `window`: the part of the record that the call shows."""
    place = turn if window is None else f"{window}:{turn}"
    return f"{step_id}/{escape(model)}/{place}/{attempt}"
