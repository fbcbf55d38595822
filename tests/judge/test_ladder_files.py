"""Ladder files: what is applied follows from the counts, and whatever contradicts them is refused."""

import copy
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jury_analysis import LadderOptions, Promises, calibrate_ladder
from jury_debate import panel_digest, read_spec, resolve
from jury_events import JuryError, canonical_json
from jury_judge import PanelFileError, make_key, sign_calibration
from jury_judge.panels.ladder_files import ReadLadder, is_ladder, ladder_bytes, read_ladder
from jury_store import PublicKey
from support.ladder_votes import OPEN, SCALE, three_stages, write_ladder
from support.refusals import RefusalTables

PANELS = [{"name": f"panel {place}", "panel": f"{place}a" * 32, "prompts": f"{place}c" * 32} for place in range(3)]
APPLIED = {"promises", "stages", "units", "clusters", "failing"}


def a_content(*, clustered: bool = False, promises: Promises = OPEN, panels: bool = True) -> dict[str, Any]:
    stages = three_stages(clustered=clustered)
    content = calibrate_ladder(stages, None, LadderOptions(promises, scale=SCALE)).to_dict()
    for place, stage in enumerate(content["stages"]):
        stage["panel"] = PANELS[place] if panels else None
    return content


def loaded(folder: Path, content: dict[str, Any]) -> ReadLadder:
    path = folder / "ladder.json"
    path.write_bytes(ladder_bytes(content))
    return read_ladder(path)


@pytest.mark.parametrize("clustered", [False, True])
def test_a_file_as_it_was_written_is_applied(tmp_path: Path, clustered: bool) -> None:
    whole = loaded(tmp_path, a_content(clustered=clustered))
    found = whole.certificate

    assert 3 == len(found.stages) == len(whole.coverage)
    assert 1.0 == pytest.approx(sum(whole.coverage))
    assert whole.coverage[0] > 0.5
    assert [one["panel"] for one in PANELS] == [stage.panel for stage in found.stages]
    assert [("pass", 1.0, 0.2), ("fail", 1.0, 0.2)] == [
        (one.outcome, one.threshold, one.risk) for one in found.stages[0].thresholds
    ]
    assert () == found.stages[2].thresholds


def test_the_file_of_real_panels_has_their_digests(tmp_path: Path) -> None:
    specs = [
        {
            "preset": "independent",
            "seats": [{"model": "simulated/juror", "juror_id": f"s{seat}"} for seat in range(size)],
        }
        for size in (1, 2, 3)
    ]
    panels = [resolve(read_spec(spec)) for spec in specs]
    found = read_ladder(write_ladder(tmp_path / "ladder.json", panels)).certificate

    assert [panel_digest(one.panel) for one in panels] == [stage.panel for stage in found.stages]
    assert [2, 2, 0] == [len(stage.thresholds) for stage in found.stages]


def leaves(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    yield from (leaf for key, item in inside for leaf in leaves(item, (*place, key)))
    if not isinstance(value, dict | list):
        yield place


def changed(content: dict[str, Any], place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    other = copy.deepcopy(content)
    holder: Any = other
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    return other


def mutants(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, float):
        return [value * 0.99 if value else 0.01, value / 2 if value else 0.5]
    if isinstance(value, int):
        return [value + 1, value - 1, 10**40]
    return [1, 0.5] if value is None else [str(value) + "0", None]


@pytest.mark.parametrize(
    ("clustered", "step"),
    [
        (False, 7),
        (True, 37),
        pytest.param(False, 1, marks=pytest.mark.full),
        pytest.param(True, 1, marks=pytest.mark.long),
    ],
)
def test_whatever_number_is_changed_no_other_threshold_is_applied(
    tmp_path: Path,
    clustered: bool,
    step: int,
) -> None:
    content = a_content(clustered=clustered)
    whole = loaded(tmp_path, content).certificate
    applied = []
    for place in list(leaves(content))[::step]:
        if place[0] not in APPLIED or place[-1] in {"name", "panel", "prompts", "verdict", "reason"}:
            continue
        value: Any = content
        for key in place:
            value = value[key]
        for mutant in mutants(value):
            if mutant == value:
                continue
            try:
                found = loaded(tmp_path, changed(content, place, mutant)).certificate
            except PanelFileError:
                continue
            # Another promise on missed failures may hold by the same counts.
            if found.stages != whole.stages or found.confidence != whole.confidence:
                applied.append((place, mutant))

    assert [] == applied


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


def test_what_cannot_be_applied_is_refused_with_the_field_and_the_remedy(
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


def test_reading_a_ladder_needs_none_of_the_statistics_libraries(tmp_path: Path) -> None:
    path = tmp_path / "ladder.json"
    path.write_bytes(ladder_bytes(a_content()))
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from jury_judge.panels.ladder_files import read_ladder\n"
        f"read_ladder(Path({str(path)!r}))\n"
        "print(sorted({'numpy', 'pyarrow', 'scipy', 'sklearn'} & set(sys.modules)))\n"
    )

    assert "[]\n" == subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
