"""Responses conform to `/openapi.json` for every request."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from jury_judge import Jury
from jury_store import open_store
from support.running_server import running_server
from support.stores import filled

# A schema-valid case, panel name or setting may still be refused, with a documented 422; a review without the token of
# a reviewer with 403.
CONFIG = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", 403, 404, 409, 422, 503]

[warnings]
enabled = false
"""


@pytest.mark.full
@pytest.mark.parametrize("examples", [2, pytest.param(50, marks=[pytest.mark.long, pytest.mark.timeout(1200)])])
def test_schemathesis_finds_nothing(tmp_path: Path, examples: int) -> None:
    path = tmp_path / "jury.db"
    filled(path, debates=2, discussion={"max_rounds": 0}, final={"method": "median"})
    url = f"sqlite:///{path}"
    jury = partial(Jury, "independent", store=url)
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    command = [
        *(str(Path(sys.executable).with_name("schemathesis")), "--config-file", "schemathesis.toml"),
        *("run", "--max-examples", str(examples), "--seed", "1", "--no-color", "--generation-database", "none"),
        *(("--phases", "examples,fuzzing,stateful") if examples < 10 else ()),
    ]

    with running_server(open_store(url, write=False), {"usual": lambda on_chunk: jury(on_chunk=on_chunk)}) as (base, _):
        found = subprocess.run(
            [*command, f"{base}/openapi.json"], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    assert 0 == found.returncode, found.stdout[-8000:]
    assert "Tested: 27" in found.stdout
