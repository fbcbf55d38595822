"""Calibration files: whatever number follows from others is computed again, under any digest."""

import copy
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from jury_analysis import CalibrationOptions, Scale, calibrate
from jury_events import Calibration, canonical_json
from jury_judge import FoundCalibration, PanelFileError, calibration_bytes
from jury_judge.panels.calibration_files import read_calibration
from jury_judge.statistics.calibrating import CalibratedPanel
from support.ballot_tables import ballots

TWO = Scale(("bad", "good"), ordered=True)
PANEL = CalibratedPanel("careful", "9a" * 32, "3c" * 32)
KINDS = ("share", "isotonic", "weights", "dawid_skene", "clustered", "votes+step", "probability")

FACTS = re.compile(
    r"panel\..*|seats\..*|categories\..*|labels|on|verdict|split.*|seed|excluded.*|warnings\..*|signal\..*"
    r"|parts\.\w+\.digest|parts\.(fit|test)\.(debates|clusters)|parts\.certify\.debates|parts\.fit\.labelled|test\.accuracy\..*"
    r"|certificate\.subject|certificate\.candidates\.\d+\.threshold"
    r"|test\.(risk|coverage)\.(interval.*|notes.*)"
    r"|votes_alone\.test\.((risk|coverage)\.(interval.*|notes.*)|accuracy\..*)"
)
"""Fields that nothing else in the file says: names, digests, fitted numbers, levels that are not applied, intervals."""


def a_file(kind: str, units: int = 900) -> dict[str, Any]:
    """The content of a calibration file: three seats, right with 98, 95 and 70 %."""
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
    path = folder / "cal.json"
    path.write_bytes(calibration_bytes(content))
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


def changed(content: dict[str, Any], place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    other = copy.deepcopy(content)
    holder: Any = other
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    return other


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_as_it_was_written_is_applied(tmp_path: Path, kind: str) -> None:
    content = a_file(kind)
    found = loaded(tmp_path, content)

    assert content["threshold"] is not None
    assert (content["threshold"], content["risk"]) == (found.threshold, found.risk)


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_number_is_changed_nothing_is_applied_that_the_counts_do_not_certify(
    tmp_path: Path, kind: str
) -> None:
    content = a_file(kind)
    applied = loaded(tmp_path, content)
    taken = []
    for place in leaves(content):
        field = ".".join(map(str, place))
        value: Any = content
        for key in place:
            value = value[key]
        for mutant in mutants(value):
            try:
                found = loaded(tmp_path, changed(content, place, mutant))
            except PanelFileError:
                continue
            same = (applied.threshold, applied.risk, applied.confidence)
            assert same == (found.threshold, found.risk, found.confidence), field
            taken.append(field)

    assert [] == [field for field in taken if not FACTS.fullmatch(field)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_field_that_is_missing_or_added_is_refused(tmp_path: Path, kind: str) -> None:
    content = a_file(kind)
    for name in content:
        with pytest.raises(PanelFileError):
            loaded(tmp_path, {key: value for key, value in content.items() if key != name})
    for name in content["certificate"]:
        left = {key: value for key, value in content["certificate"].items() if key != name}
        with pytest.raises(PanelFileError):
            loaded(tmp_path, {**content, "certificate": left})
    with pytest.raises(PanelFileError):
        loaded(tmp_path, {**content, "more": 1})


def test_the_message_names_the_field_both_values_and_the_remedy(tmp_path: Path) -> None:
    content = a_file("share")
    with pytest.raises(PanelFileError) as refused:
        loaded(tmp_path, changed(content, ("certificate", "candidates", 0, "upper_bound"), 0.001))

    bound = content["certificate"]["candidates"][0]["upper_bound"]
    assert (
        f"certificate.candidates.0.upper_bound is 0.001, and by the counts of its certificate it is {str(bound)[:10]}"
        in str(refused.value)
    )
    assert str(refused.value).endswith("restore the file, or calibrate again")


def test_a_clustered_file_without_counts_by_cluster_says_what_to_do(tmp_path: Path) -> None:
    content = a_file("clustered")
    for candidate in content["certificate"]["candidates"]:
        del candidate["by_cluster"]
    with pytest.raises(PanelFileError, match=r"has no counts by cluster.*calibrate again"):
        loaded(tmp_path, content)


def test_a_calibration_without_a_threshold_is_not_applied(tmp_path: Path) -> None:
    content = FoundCalibration(
        calibrate(
            ballots([("good", "bad", "bad")] * 60, labels=["good"] * 60),
            None,
            CalibrationOptions(scale=TWO, risk=0.05),
        ),
        PANEL,
    ).to_dict()

    assert content["threshold"] is None
    with pytest.raises(PanelFileError, match="certifies no threshold"):
        loaded(tmp_path, content)


def test_reading_a_calibration_needs_none_of_the_statistics_libraries(tmp_path: Path) -> None:
    path = tmp_path / "cal.json"
    path.write_bytes(calibration_bytes(a_file("clustered")))
    program = (
        "import sys\n"
        "for name in ('numpy', 'scipy', 'sklearn'): sys.modules[name] = None\n"
        "from pathlib import Path\n"
        "from jury_judge.panels.calibration_files import read_calibration\n"
        "print(read_calibration(Path(sys.argv[1])).calibration.threshold)"
    )
    found = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False)

    assert json.loads(path.read_bytes())["threshold"] == float(found.stdout or "nan"), found.stderr


def test_files_of_the_older_signals_are_byte_for_byte_as_they_were() -> None:
    safe, unsafe = "safe_pass", "unsafe_fail"
    votes = [(safe, safe, safe), (unsafe, unsafe, unsafe), (safe, safe, unsafe)] * 20
    found = FoundCalibration(calibrate(ballots(votes, labels=[safe, unsafe, safe] * 20)), PANEL)
    content = json.loads(found.file_bytes())

    assert 1 == content["calibration"]
    assert "57562125bfb9076a021bbb309e22582fe386cfc9277e59cb68e8ac8601b0f91c" == content["digest"]


def test_a_file_that_compares_steps_has_a_format_that_older_versions_refuse() -> None:
    assert 2 == json.loads(calibration_bytes(a_file("votes+step")))["calibration"]


@pytest.mark.parametrize(
    ("kind", "other"), [("share", 2), ("votes+step", 1), ("share", True), ("share", 3), ("probability", 1)]
)
def test_a_file_of_another_format_than_its_signal_is_refused(tmp_path: Path, kind: str, other: int) -> None:
    path = tmp_path / "cal.json"
    document = {**json.loads(calibration_bytes(a_file(kind))), "calibration": other}
    rest = {name: value for name, value in document.items() if name != "digest"}
    path.write_bytes(canonical_json({**rest, "digest": sha256(canonical_json(rest)).hexdigest()}))

    with pytest.raises(PanelFileError, match="format"):
        read_calibration(path)


def test_a_certificate_of_another_signal_is_none_of_probabilities(tmp_path: Path) -> None:
    share = a_file("share")

    with pytest.raises(PanelFileError, match=r"certificate\.candidates\.\d\.threshold is 0\.6+\d, .* it is 0\.67"):
        loaded(tmp_path, {**share, "signal": {"kind": "probability"}})
    with pytest.raises(PanelFileError, match=r"certificate\.candidates\.\d+\.threshold is"):
        loaded(tmp_path, {**a_file("probability"), "signal": {"kind": "share"}})


def test_votes_alone_belong_to_a_signal_that_compares_steps(tmp_path: Path) -> None:
    with_steps, share = a_file("votes+step"), a_file("share")

    with pytest.raises(PanelFileError, match="votes_alone is null"):
        loaded(tmp_path, {name: value for name, value in with_steps.items() if name != "votes_alone"})
    with pytest.raises(PanelFileError, match="votes_alone is"):
        loaded(tmp_path, {**share, "votes_alone": with_steps["votes_alone"]})


def test_messages_of_files_are_no_items_of_a_panel(tmp_path: Path) -> None:
    content = a_file("votes+step")

    with pytest.raises(PanelFileError, match=r'signal\.step is "message"'):
        loaded(tmp_path, {**content, "signal": {**content["signal"], "step": "message"}})
    with pytest.raises(PanelFileError, match=r'signal\.passing is "good"'):
        loaded(tmp_path, {**content, "signal": {**content["signal"], "passing": "good"}})


def test_a_threshold_that_agreement_of_seats_cannot_have_is_refused(tmp_path: Path) -> None:
    content = a_file("votes+step")

    with pytest.raises(PanelFileError, match=r"certificate\.candidates\.0\.threshold is 0\.97, .* it is 1\.0"):
        loaded(tmp_path, changed(content, ("certificate", "candidates", 0, "threshold"), 0.97))
