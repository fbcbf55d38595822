"""A recorded debate under today's rules and prompts: what comes out otherwise, and what of it was accepted.

The expectation is the record itself. Where a change is wanted, the differences from the record are kept in a file
beside the cassette, to be read and reviewed: from then on exactly these differences are expected.
"""

import hashlib
import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from jury_debate.errors import DebateError
from jury_debate.prompts import PROMPTS_VERSION
from jury_debate.rules import RULES, rules_of
from jury_events.codec import DebateEvent
from jury_events.debate_events import DebateCompleted
from jury_events.errors import EventError, UnknownPart
from jury_replay.cassettes.lines import SUFFIX
from jury_replay.cassettes.reading import read_cassette
from jury_replay.cassettes.shelf import put
from jury_replay.comparison import differences
from jury_replay.difference import Difference
from jury_replay.errors import BadAcceptance, ReplayError
from jury_replay.recorded import broken, opened_again, read_recorded
from jury_replay.retelling import Retelling
from jury_store.inventory import DebateRecord
from jury_store.regular_files import read_text

ACCEPTED_SUFFIX = ".accepted.json"
TODAY = max(RULES)
"""The version of the rules that new debates are held under."""

_MOST_ACCEPTED = 256 * 1024 * 1024
"""Bytes of a file of accepted changes."""

_LONG = 400
"""Characters from which on a text stands in an accepted file by its hash."""


class Outcome(NamedTuple):
    """Verdict and score (0-100) of a debate that completed."""

    verdict: str
    score: int


class Status(StrEnum):
    """same: as recorded, or as accepted. changed: otherwise. unreadable: it cannot be told again."""

    SAME = "same"
    CHANGED = "changed"
    UNREADABLE = "unreadable"


class Regressed(NamedTuple):
    """What a cassette came to.

    `differences` are those from the record; `accepted` says that all of them, and no others, were accepted before.
    `recorded` and `now` are None where the debate has no verdict. `detail` says what is wrong.
    """

    path: Path
    status: Status
    recorded: Outcome | None = None
    now: Outcome | None = None
    differences: tuple[Difference, ...] = ()
    accepted: bool = False
    detail: str | None = None

    @property
    def name(self) -> str:
        """The cassette's, without its suffix."""
        return self.path.name.removesuffix(SUFFIX)


def regress(path: Path, rules: int = TODAY) -> Regressed:
    """Tell a cassette again and compare with what is expected of it.

    Args:
        path: of the cassette; what was accepted stands beside it.
        rules: version of the rules; prompts are today's.
    """
    try:
        record = read_cassette(path).record
    except (EventError, ReplayError) as error:
        return Regressed(path, Status.UNREADABLE, detail=str(error))
    try:
        found = regress_record(record, rules)._replace(path=path)
    except UnknownPart as error:
        return Regressed(path, Status.UNREADABLE, detail=_gone(record, error))
    except (EventError, DebateError, ReplayError) as error:
        return Regressed(path, Status.UNREADABLE, detail=str(error))
    except Exception as error:  # noqa: BLE001  (rules that break are what a regression test is for)
        return Regressed(path, Status.UNREADABLE, detail=broken(record.debate_id, error))
    try:
        accepted = _read_accepted(path)
    except BadAcceptance as error:
        return found._replace(status=Status.CHANGED, detail=str(error))
    if _as_kept(found.differences) == accepted:
        return found._replace(status=Status.SAME, accepted=bool(accepted))
    if not found.differences:
        gone = "the change that was accepted does not happen any more; accept that too, to forget it"
        return found._replace(status=Status.CHANGED, detail=gone)
    return found


def regress_record(record: DebateRecord, rules: int = TODAY) -> Regressed:
    """Tell one debate again under `rules` and compare with its record alone.

    Raises:
        EventError, DebateError, ReplayError: it cannot be told again.
    """
    recorded = read_recorded(record)
    pen = recorded.pen()
    opened = opened_again(recorded, rules_of(rules), pen, prompts=PROMPTS_VERSION)
    retelling = Retelling(recorded, opened, pen).hold()
    found = differences(recorded, retelling, same_versions=False)
    return Regressed(
        Path(record.debate_id + SUFFIX),
        Status.CHANGED if found else Status.SAME,
        _outcome(recorded.events),
        _outcome(retelling.events),
        tuple(found),
    )


def _gone(record: DebateRecord, error: UnknownPart) -> str:
    if error.part in read_recorded(record).erased:
        return "texts of it were erased, on record, and it cannot be told again; take it out of the corpus"
    return str(error)


def accept(found: Regressed) -> None:
    """Expect these differences from now on; without any, forget what was accepted.

    Raises:
        CassetteError: the file beside the cassette cannot be written.
    """
    path = _accepted_path(found.path)
    if not found.differences:
        path.unlink(missing_ok=True)
        return
    kept = {"verdict": _change(found), "differences": _as_kept(found.differences)}
    put(path, (json.dumps(kept, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode())


def _change(found: Regressed) -> dict[str, Any]:
    return {name: one and one._asdict() for name, one in (("recorded", found.recorded), ("now", found.now))}


def _outcome(events: Sequence[DebateEvent]) -> Outcome | None:
    done = next((event for event in events if isinstance(event, DebateCompleted)), None)
    return None if done is None else Outcome(done.final_verdict.value, done.final_score)


def _accepted_path(cassette: Path) -> Path:
    return cassette.with_name(cassette.name.removesuffix(SUFFIX) + ACCEPTED_SUFFIX)


def _read_accepted(cassette: Path) -> list[Any]:
    path = _accepted_path(cassette)
    try:
        kept = json.loads(read_text(path, _MOST_ACCEPTED))["differences"]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadAcceptance(
            f"{path} does not read as accepted changes ({error}); accept them anew, or delete it"
        ) from None
    if not isinstance(kept, list):
        raise BadAcceptance(f"{path}: differences is no list; accept them anew, or delete it")
    return kept


def _as_kept(found: Sequence[Difference]) -> list[Any]:
    """As an accepted file holds them: causes left out, which are ours to word, and long texts by their hashes."""
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
