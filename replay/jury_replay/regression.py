"""Regression tests: cassettes replayed under today's rules and their own prompts, and the accepted differences.

The record itself is the expectation. For a wanted change the differences are stored in a file beside the cassette, for
review: from then on exactly these differences are expected.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from jury_debate.errors import DebateError
from jury_debate.rules_registry import rules_of
from jury_events.codec import DebateEvent
from jury_events.debate_events import DebateCompleted
from jury_events.debate_history import DebateHistory
from jury_events.errors import EventError, UnknownPart
from jury_events.regular_files import read_text
from jury_events.text import visible_line
from jury_replay.cassettes.lines import SUFFIX
from jury_replay.cassettes.reading import read_cassette
from jury_replay.cassettes.writing import put
from jury_replay.difference import DifferenceKind, ReplayDifference
from jury_replay.errors import BadAcceptance, ReplayError
from jury_replay.replay import differences
from jury_replay.replayer import Replayer, crash_message, pen_of, reopen
from jury_replay.rescoring.settings import Setting

ACCEPTED_SUFFIX = ".accepted.json"
_MOST_ACCEPTED = 256 * 1024 * 1024
"""Bytes of a file of accepted changes."""

_SHOWN_EVENTS = 3
_SHOWN_PROMPTS = 2
"""How many differences of events and of prompts are shown."""

_LONG = 400
"""Longer texts, in characters, are stored in an accepted file as their hash."""


class FinalVerdict(NamedTuple):
    """Verdict and score (0-100; None: no seat evaluated) of a debate that completed."""

    verdict: str
    score: int | None


class RegressionStatus(StrEnum):
    """same: as recorded, or as accepted. changed: different. unreadable: it cannot be replayed."""

    SAME = "same"
    CHANGED = "changed"
    UNREADABLE = "unreadable"


class Regressed(NamedTuple):
    """The result of one cassette.

    `differences` are those from the record; `accepted`: all of them, and no others, were accepted before. `recorded`
    and `now` are None where the debate has no verdict. `detail` is an error or a remark.
    """

    path: Path
    status: RegressionStatus
    recorded: FinalVerdict | None = None
    now: FinalVerdict | None = None
    differences: tuple[ReplayDifference, ...] = ()
    accepted: bool = False
    detail: str | None = None

    @property
    def name(self) -> str:
        """The cassette's, without its suffix."""
        return self.path.name.removesuffix(SUFFIX)

    def shown_lines(self) -> Iterator[str]:
        """For people: verdict and score, then the first differences: what happens first, prompts apart from it."""
        if self.status is RegressionStatus.UNREADABLE:
            yield visible_line(f"{self.name}: {self.detail}", 1000)
            return
        yield f"{self.name}: {self._outcomes()}"
        if self.detail is not None:
            yield f"  {self.detail}"
        prompts = [one for one in self.differences if one.kind is DifferenceKind.PROMPT]
        happened = [one for one in self.differences if one.kind is not DifferenceKind.PROMPT]
        for some, shown, what in (
            (happened, _SHOWN_EVENTS, "other differences"),
            (prompts, _SHOWN_PROMPTS, "other prompts"),
        ):
            for difference in some[:shown]:
                yield from (f"  {line}" for line in difference.shown_lines())
            if len(some) > shown:
                yield f"  and {len(some) - shown} {what}"

    def _outcomes(self) -> str:
        if self.recorded == self.now:
            return f"still {_shown(self.now)}, but"
        return f"was {_shown(self.recorded)}, is {_shown(self.now)}"


def _shown(outcome: FinalVerdict | None) -> str:
    if outcome is None:
        return "without a verdict"
    return f"{outcome.verdict} {'without a score' if outcome.score is None else outcome.score}"


def regress(path: Path, rules: int | None = None, setting: Setting | None = None) -> Regressed:
    """Replay a cassette and compare with its expectation.

    Args:
        path: of the cassette; accepted differences are in the file beside it.
        rules: the rules version; None: the newest. Prompts are of the recorded version.
    """
    try:
        history = read_cassette(path).history
    except (EventError, ReplayError) as error:
        return Regressed(path, RegressionStatus.UNREADABLE, detail=str(error))
    try:
        found = regress_history(history, rules, setting)._replace(path=path)
    except UnknownPart as error:
        return Regressed(path, RegressionStatus.UNREADABLE, detail=_unknown_part(history, error))
    except (EventError, DebateError, ReplayError) as error:
        return Regressed(path, RegressionStatus.UNREADABLE, detail=str(error))
    except Exception as error:  # noqa: BLE001  (a regression test has to report rules that fail)
        return Regressed(path, RegressionStatus.UNREADABLE, detail=crash_message(history.debate_id, error))
    try:
        accepted = _read_accepted(path)
    except BadAcceptance as error:
        return found._replace(status=RegressionStatus.CHANGED, detail=str(error))
    if _as_stored(found.differences) == accepted:
        return found._replace(status=RegressionStatus.SAME, accepted=bool(accepted))
    if not found.differences:
        gone = "the accepted change does not occur any more; accept again to drop it"
        return found._replace(status=RegressionStatus.CHANGED, detail=gone)
    return found


def regress_history(history: DebateHistory, rules: int | None = None, setting: Setting | None = None) -> Regressed:
    """Replay one debate under `rules` (None: the newest) and compare with its record alone."""
    pen = pen_of(history)
    panel = None if setting is None else setting.apply(history.opened.panel)
    opened = reopen(history, rules_of(rules), pen, panel=panel)
    replayer = Replayer(history, opened, pen).run()
    found = differences(history, replayer, same_versions=False)
    return Regressed(
        Path(history.debate_id + SUFFIX),
        RegressionStatus.CHANGED if found else RegressionStatus.SAME,
        _final_verdict(history.events),
        _final_verdict(replayer.events),
        tuple(found),
    )


def _unknown_part(history: DebateHistory, error: UnknownPart) -> str:
    if error.part in history.erased:
        return "texts of it were erased, on record, and it cannot be replayed; remove it from the corpus"
    return str(error)


def accept(found: Regressed) -> None:
    """Expect these differences from now on; without any, delete the file of accepted ones."""
    path = _accepted_path(found.path)
    if not found.differences:
        path.unlink(missing_ok=True)
        return
    accepted = {"verdict": _change(found), "differences": _as_stored(found.differences)}
    put(path, (json.dumps(accepted, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode())


def _change(found: Regressed) -> dict[str, Any]:
    return {name: one and one._asdict() for name, one in (("recorded", found.recorded), ("now", found.now))}


def _final_verdict(events: Sequence[DebateEvent]) -> FinalVerdict | None:
    done = next((event for event in events if isinstance(event, DebateCompleted)), None)
    return None if done is None else FinalVerdict(done.outcome.verdict, done.outcome.score)


def _accepted_path(cassette: Path) -> Path:
    return cassette.with_name(cassette.name.removesuffix(SUFFIX) + ACCEPTED_SUFFIX)


def _read_accepted(cassette: Path) -> list[Any]:
    path = _accepted_path(cassette)
    try:
        accepted = json.loads(read_text(path, _MOST_ACCEPTED))["differences"]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadAcceptance(
            f"{path} is not a file of accepted changes ({error}); accept them again, or delete it"
        ) from None
    if not isinstance(accepted, list):
        raise BadAcceptance(f"{path}: differences is not a list; accept them again, or delete it")
    return accepted


def _as_stored(found: Sequence[ReplayDifference]) -> list[Any]:
    """As an accepted file stores them: without causes, whose wording may change, and long texts as hashes."""
    return [
        {
            "kind": one.kind.value,
            "place": one.place,
            "changes": [
                {"path": path, "recorded": _brief(recorded), "now": _brief(now)} for path, recorded, now in one.changes
            ],
        }
        for one in found
    ]


def _brief(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _brief(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_brief(inner) for inner in value]
    if isinstance(value, str) and len(value) > _LONG:
        return f"sha256:{hashlib.sha256(value.encode('utf-8', 'surrogatepass')).hexdigest()} {value[:60]}…"
    return value
