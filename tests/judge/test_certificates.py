"""Files of calibrations and ladders: whatever number follows from others is computed again, under any digest."""

import copy
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from jury_analysis import CalibrationOptions, LadderOptions, Promises, Scale, calibrate, calibrate_ladder
from jury_events import Calibration, JuryError, canonical_json
from jury_judge import (
    CalibratedPanel,
    FoundCalibration,
    PanelFileError,
    ReadLadder,
    calibration_bytes,
    is_ladder,
    ladder_bytes,
    make_key,
    read_calibration,
    read_ladder,
    sign_calibration,
)
from jury_store import PublicKey
from support.ballot_tables import ballots
from support.ladder_votes import OPEN, SCALE, three_stages
from support.refusals import RefusalTables

TWO = Scale(("bad", "good"), ordered=True)
PANEL = CalibratedPanel("careful", "9a" * 32, "3c" * 32)
KINDS = ("share", "isotonic", "weights", "dawid_skene", "clustered", "votes+step", "probability")
PANELS = [{"name": f"panel {place}", "panel": f"{place}a" * 32, "prompts": f"{place}c" * 32} for place in range(3)]

pytestmark = pytest.mark.full_for("isotonic", "weights", "dawid_skene", "probability")

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
    if isinstance(value, bool):
        return [not value, 2]
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


def accepted_changes(
    content: dict[str, Any], step: int, load: Callable[[dict[str, Any]], Any]
) -> Iterator[tuple[str, Any]]:
    """Of every `step`-th value each mutant that is read: its field, and what was read."""
    for place in list(leaves(content))[::step]:
        value = value_at(content, place)
        for mutant in mutants(value):
            try:
                found = load(changed(content, place, mutant))
            except PanelFileError:
                continue
            if mutant != value:
                yield ".".join(map(str, place)), found


EVERY = pytest.mark.parametrize("step", [9, pytest.param(1, marks=pytest.mark.full)])


@EVERY
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_number_of_a_calibration_is_changed_no_more_than_its_counts_certify_is_applied(
    tmp_path: Path, kind: str, step: int
) -> None:
    content = a_file(kind)
    applied = loaded(tmp_path, content)
    taken = []
    for field, found in accepted_changes(content, step, lambda one: loaded(tmp_path, one)):
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


def test_a_file_is_byte_for_byte_what_follows_from_the_votes() -> None:
    safe, unsafe = "safe_pass", "unsafe_fail"
    votes = [(safe, safe, safe), (unsafe, unsafe, unsafe), (safe, safe, unsafe)] * 20
    found = FoundCalibration(calibrate(ballots(votes, labels=[safe, unsafe, safe] * 20)), PANEL)
    content = json.loads(found.file_bytes())

    assert 1 == content["calibration"]
    assert "57562125bfb9076a021bbb309e22582fe386cfc9277e59cb68e8ac8601b0f91c" == content["digest"]


# Ladders


def a_content(*, clustered: bool = False, promises: Promises = OPEN, panels: bool = True) -> dict[str, Any]:
    stages = three_stages(clustered=clustered)
    content = calibrate_ladder(stages, None, LadderOptions(promises, scale=SCALE)).to_dict()
    for place, stage in enumerate(content["stages"]):
        stage["panel"] = PANELS[place] if panels else None
    return content


def loaded_ladder(folder: Path, content: dict[str, Any]) -> ReadLadder:
    path = folder / "ladder.json"
    path.write_bytes(ladder_bytes(content))
    return read_ladder(path)


@pytest.mark.parametrize("clustered", [False, True])
def test_a_ladder_as_it_was_written_is_applied(tmp_path: Path, clustered: bool) -> None:
    whole = loaded_ladder(tmp_path, a_content(clustered=clustered))
    found = whole.certificate

    assert 3 == len(found.stages) == len(whole.coverage)
    assert 1.0 == pytest.approx(sum(whole.coverage))
    assert whole.coverage[0] > 0.5
    assert [one["panel"] for one in PANELS] == [stage.panel for stage in found.stages]
    assert [("pass", 1.0, 0.2), ("fail", 1.0, 0.2)] == [
        (one.outcome, one.threshold, one.risk) for one in found.stages[0].thresholds
    ]
    assert () == found.stages[2].thresholds


@EVERY
def test_whatever_number_of_a_ladder_is_changed_no_other_threshold_is_applied(tmp_path: Path, step: int) -> None:
    content = a_content(clustered=step == 9)
    whole = loaded_ladder(tmp_path, content).certificate
    names = ("name", "panel", "prompts", "verdict", "reason")
    tried = accepted_changes(content, step * (4 if step == 9 else 1), lambda one: loaded_ladder(tmp_path, one))

    # Another promise on missed failures may hold by the same counts.
    assert [] == [
        field
        for field, found in tried
        if field.rpartition(".")[2] not in names
        and (found.certificate.stages != whole.stages or found.certificate.confidence != whole.confidence)
    ]


CHANGED: dict[tuple[Any, ...], Any] = {
    ("stages", 1, "certificate", "combinations"): 1,
    ("stages", 0, "certificate", "pass_threshold"): None,
    ("promises", "fails"): None,
    ("promises", "confidence"): 0.8,
    ("stages", 0, "seats"): ["a", "b", "c"],
    ("units",): 601,
    ("use", "stages", 1, "reached"): 1,
    ("use", "stages", 0, "coverage", "value"): 0.5,
    ("use", "stages", 0, "name"): "other",
    ("use", "early", "value"): 0.123,
    ("use", "accuracy", "value"): 0.12345,
    ("use", "full_accuracy", "n"): 3,
}


def test_what_cannot_be_applied_of_a_ladder_is_refused_with_the_field_and_the_remedy(
    refusals: RefusalTables, tmp_path: Path
) -> None:
    content = a_content()
    files = {
        ".".join(map(str, place)): ladder_bytes(changed(content, place, value)) for place, value in CHANGED.items()
    }
    files |= {
        "votes of files": ladder_bytes(a_content(panels=False)),
        "nothing certified": ladder_bytes(a_content(promises=Promises(0.005, 0.005))),
        "of another kind": b'{"calibration": 1, "digest": "00"}',
        "of a later format": b'{"ladder": 2, "digest": "00"}',
        "no JSON": b"[",
    }
    path = tmp_path / "ladder.json"

    def read(content: bytes) -> object:
        path.write_bytes(content)
        return read_ladder(path)

    refusals.check("ladder_files", files, read, PanelFileError)
    with pytest.raises(PanelFileError, match="was changed after jury calibrate --stages wrote it"):
        read(ladder_bytes(content).replace(b'"confidence":0.9,', b'"confidence":0.8,', 1))
    with pytest.raises(PanelFileError, match="there is no such ladder file"):
        read_ladder(tmp_path / "absent.json")
    (tmp_path / "later.json").write_bytes(files["of a later format"])
    (tmp_path / "other.json").write_bytes(files["of another kind"])
    path.write_bytes(files["no JSON"])
    assert [False, True, False, False] == [
        is_ladder(tmp_path / f"{name}.json") for name in ("other", "later", "ladder", "absent")
    ]


def test_a_signed_ladder_is_known_by_its_key_and_another_is_refused(tmp_path: Path) -> None:
    path, key = tmp_path / "ladder.json", tmp_path / "seal.key"
    path.write_bytes(ladder_bytes(a_content()))
    line = make_key(key, "example.com/jury").public_line
    with pytest.raises(JuryError, match="is not signed"):
        read_ladder(path, trust=[PublicKey.parse(line)])
    sign_calibration(path, key, lambda _remark: None)

    assert read_ladder(path, trust=[PublicKey.parse(line)]).signed_by is not None
    note = json.loads(path.read_bytes())["note"]
    path.write_bytes(canonical_json({**json.loads(ladder_bytes(a_content(promises=Promises(0.3, 0.3)))), "note": note}))
    with pytest.raises(JuryError, match="is over the content"):
        read_ladder(path)


def test_reading_either_needs_none_of_the_statistics_libraries(tmp_path: Path) -> None:
    (tmp_path / "cal.json").write_bytes(calibration_bytes(a_file("clustered")))
    (tmp_path / "ladder.json").write_bytes(ladder_bytes(a_content()))
    program = (
        "import sys\n"
        "for name in ('numpy', 'scipy', 'sklearn', 'pyarrow'): sys.modules[name] = None\n"
        "from pathlib import Path\n"
        "from jury_judge import read_calibration\n"
        "from jury_judge.panels.ladders import read_ladder\n"
        "folder = Path(sys.argv[1])\n"
        "read_ladder(folder / 'ladder.json')\n"
        "print(read_calibration(folder / 'cal.json').calibration.threshold)"
    )
    found = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False)

    assert a_file("clustered")["threshold"] == float(found.stdout or "nan"), found.stderr
