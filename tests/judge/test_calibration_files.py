"""Calibration files: whatever number follows from others is computed again, under any digest."""

import copy
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from jury_analysis import CalibrationOptions, Scale, calibrate
from jury_events import Calibration, canonical_json
from jury_judge import CalibratedPanel, FoundCalibration, PanelFileError, calibration_bytes, read_calibration
from support.ballot_tables import ballots
from support.refusals import RefusalTables

TWO = Scale(("bad", "good"), ordered=True)
PANEL = CalibratedPanel("careful", "9a" * 32, "3c" * 32)
KINDS = ("share", "isotonic", "weights", "dawid_skene", "clustered", "votes+step", "probability")

pytestmark = pytest.mark.full_for("isotonic", "weights", "dawid_skene")

FACTS = re.compile(
    r"panel\..*|seats\..*|categories\..*|labels|on|verdict|split.*|seed|excluded.*|warnings\..*|signal\..*"
    r"|parts\.\w+\.digest|parts\.(fit|test)\.(debates|clusters)|parts\.certify\.debates|parts\.fit\.labelled|test\.accuracy\..*"
    r"|certificate\.subject|certificate\.candidates\.\d+\.threshold"
    r"|test\.(risk|coverage)\.(interval.*|notes.*)"
    r"|votes_alone\.test\.((risk|coverage)\.(interval.*|notes.*)|accuracy\..*)"
)
"""Fields that nothing else in the file says: names, digests, fitted numbers, levels that are not applied, intervals."""


def a_file(kind: str) -> dict[str, Any]:
    """The content of a calibration file, and its reader may change it."""
    return copy.deepcopy(_calibrated(kind))


@cache
def _calibrated(kind: str, units: int = 900) -> dict[str, Any]:
    """Three seats, right with 98, 95 and 70 %."""
    random = np.random.default_rng(5)
    truth = random.integers(0, 2, units)
    right = random.random((units, 3)) < np.array([0.98, 0.95, 0.7])
    names = np.array(TWO.categories)
    table = ballots(
        [tuple(row) for row in names[np.where(right, truth[:, None], 1 - truth[:, None])].tolist()],
        labels=names[truth].tolist(),
        clusters=[f"g{unit // 2:03}" for unit in range(units)] if kind == "clustered" else None,
        confidences=np.where(right, 0.95, 0.6).tolist() if kind == "probability" else None,
    )
    if kind == "votes+step":
        items = np.where(right, 3, random.integers(1, 6, right.shape)).reshape(-1)
        passes = np.array(table["verdict"].to_pylist()) == "bad"
        table = table.append_column("decisive_item", pa.array(items, pa.int32(), mask=passes))
    clustered = kind == "clustered"
    options = CalibrationOptions(
        risk=0.2, scale=TWO, signal="share" if clustered else kind, split=None if clustered else (40, 40, 20)
    )
    return FoundCalibration(calibrate(table, None, options), PANEL).to_dict()


def loaded(folder: Path, content: dict[str, Any]) -> Calibration:
    return written(folder, calibration_bytes(content))


def written(folder: Path, content: bytes) -> Calibration:
    path = folder / "cal.json"
    path.write_bytes(content)
    return read_calibration(path).calibration


def leaves(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of everything in JSON values that is no table and no list."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    yield from (leaf for key, item in inside for leaf in leaves(item, (*place, key)))
    if not isinstance(value, dict | list):
        yield place


def mutants(value: Any) -> list[Any]:
    """Other values of the same kind, and one of another kind."""
    if isinstance(value, str):
        return [value[:-1] + ("0" if value[-1:] != "0" else "1"), None]
    if isinstance(value, float):
        return [value * 0.99 if value else 0.01, value / 2 if value else 0.5, True]
    if isinstance(value, int):
        return [value + 1, value - 1, 10**40]
    return [1, 0.5, "none"]


def value_at(content: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        content = content[key]
    return content


def changed(content: dict[str, Any], place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    other = copy.deepcopy(content)
    value_at(other, place[:-1])[place[-1]] = value
    return other


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_is_applied_as_it_was_written_and_whatever_number_is_changed_no_more_than_its_counts_certify(
    tmp_path: Path, kind: str
) -> None:
    content = a_file(kind)
    applied = loaded(tmp_path, content)
    taken = []
    for place in leaves(content):
        field = ".".join(map(str, place))
        for mutant in mutants(value_at(content, place)):
            try:
                found = loaded(tmp_path, changed(content, place, mutant))
            except PanelFileError:
                continue
            same = (applied.threshold, applied.risk, applied.confidence)
            assert same == (found.threshold, found.risk, found.confidence), field
            taken.append(field)

    assert content["threshold"] is not None
    assert (content["threshold"], content["risk"]) == (applied.threshold, applied.risk)
    assert [] == [field for field in taken if not FACTS.fullmatch(field)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_field_that_is_missing_or_added_is_refused(tmp_path: Path, kind: str) -> None:
    content = a_file(kind)
    altered = [{**content, "more": 1}, *(without(content, name) for name in content)]
    certificate = content["certificate"]
    altered += [{**content, "certificate": without(certificate, name)} for name in certificate]

    for one in altered:
        with pytest.raises(PanelFileError):
            loaded(tmp_path, one)


FIRST = ("certificate", "candidates", 0)


def test_a_bound_that_was_changed_is_named_beside_the_one_that_follows(tmp_path: Path) -> None:
    content = a_file("share")
    bound = value_at(content, (*FIRST, "upper_bound"))

    with pytest.raises(PanelFileError, match=f"upper_bound is 0.001, and by the counts .* it is {str(bound)[:10]}"):
        loaded(tmp_path, changed(content, (*FIRST, "upper_bound"), 0.001))


def without(content: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in content.items() if key != name}


def of_format(kind: str, number: object) -> bytes:
    """A file that says that it is of another format; its digest is right."""
    rest = without({**json.loads(calibration_bytes(a_file(kind))), "calibration": number}, "digest")
    return canonical_json({**rest, "digest": sha256(canonical_json(rest)).hexdigest()})


def test_a_file_that_contradicts_itself_is_refused_with_the_field_both_values_and_the_remedy(
    refusals: RefusalTables, tmp_path: Path
) -> None:
    share, steps, clustered = a_file("share"), a_file("votes+step"), a_file("clustered")
    for candidate in clustered["certificate"]["candidates"]:
        del candidate["by_cluster"]
    split = calibrate(
        ballots([("good", "bad", "bad")] * 60, labels=["good"] * 60), None, CalibrationOptions(scale=TWO, risk=0.05)
    )
    contents = {
        "threshold that agreement of seats cannot have": changed(steps, (*FIRST, "threshold"), 0.97),
        "no counts by cluster": clustered,
        "no threshold": FoundCalibration(split, PANEL).to_dict(),
        "certificate of shares under probabilities": {**share, "signal": {"kind": "probability"}},
        "certificate of probabilities under shares": {**a_file("probability"), "signal": {"kind": "share"}},
        "steps without votes alone": without(steps, "votes_alone"),
        "votes alone without steps": {**share, "votes_alone": steps["votes_alone"]},
        "messages in place of items": {**steps, "signal": {**steps["signal"], "step": "message"}},
        "another passing verdict": {**steps, "signal": {**steps["signal"], "passing": "good"}},
    }
    files = {name: calibration_bytes(content) for name, content in contents.items()}
    formats = (("share", 2), ("share", True))
    files |= {f"{kind} as format {number}": of_format(kind, number) for kind, number in formats}

    refusals.check("calibration_files", files, lambda content: written(tmp_path, content), PanelFileError)


def test_reading_a_calibration_needs_none_of_the_statistics_libraries(tmp_path: Path) -> None:
    path = tmp_path / "cal.json"
    path.write_bytes(calibration_bytes(a_file("clustered")))
    program = (
        "import sys\n"
        "for name in ('numpy', 'scipy', 'sklearn'): sys.modules[name] = None\n"
        "from pathlib import Path\n"
        "from jury_judge import read_calibration\n"
        "print(read_calibration(Path(sys.argv[1])).calibration.threshold)"
    )
    found = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False)

    assert json.loads(path.read_bytes())["threshold"] == float(found.stdout or "nan"), found.stderr


def test_a_file_is_byte_for_byte_what_follows_from_the_votes() -> None:
    safe, unsafe = "safe_pass", "unsafe_fail"
    votes = [(safe, safe, safe), (unsafe, unsafe, unsafe), (safe, safe, unsafe)] * 20
    found = FoundCalibration(calibrate(ballots(votes, labels=[safe, unsafe, safe] * 20)), PANEL)
    content = json.loads(found.file_bytes())

    assert 1 == content["calibration"]
    assert "57562125bfb9076a021bbb309e22582fe386cfc9277e59cb68e8ac8601b0f91c" == content["digest"]
