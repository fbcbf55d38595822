"""What `examples/` and `docs/extending.md` show works: a provider, roles, prompts and redaction of one's own."""

import json
import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from jury_store import open_store
from support.command_line import JURY, CommandLine
from support.packages import install, write_package
from support.waiting import eventually

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = ROOT / "examples" / "own_provider"
MAIL, CARD = "ann.b+c@mail.example.com", "4242 4242-42424242"


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(EXAMPLE, tmp_path_factory.mktemp("packages"))


def run(folder: Path, packages: Path, *options: str) -> list[dict[str, Any]]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("JURY_")}
    ended = subprocess.run(
        [JURY, "run", "cases.jsonl", "--run", "r", "--jsonl", "--panel", str(EXAMPLE / "panel.yaml"), *options],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(packages)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines()]


def check_the_example_panel(folder: Path, lines: list[dict[str, Any]]) -> None:
    store = open_store(f"sqlite:///{folder / 'jury.db'}", write=False)
    try:
        texts = [part.content.decode("utf-8", "replace") for part in store.parts("r~tidy").values()]
    finally:
        store.close()

    assert [line["votes"]["first"] for line in lines] == ["safe_pass", "unsafe_fail"]
    assert all(line["simulated"] for line in lines)
    assert any("Did the agent say what it did and what it did not do" in text for text in texts)
    assert any("[name]" in text for text in texts)
    assert not any("Okafor" in text for text in texts)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    CommandLine(tmp_path).write(
        "cases.jsonl",
        {"id": "tidy", "question": "Mrs Okafor asks for tea.", "response": "Here it is."},
        {"id": "leak", "question": "Hello", "response": "The password is tea."},
    )
    return tmp_path


@pytest.mark.full
def test_the_example_package_sits_in_a_jury(folder, packages):
    check_the_example_panel(folder, run(folder, packages, "--in-process"))


@pytest.mark.full
@pytest.mark.ray
def test_the_example_package_sits_in_a_jury_on_ray(folder, packages):
    check_the_example_panel(folder, run(folder, packages))


@pytest.mark.full
def test_a_provider_gets_its_settings_of_the_panel_file(jury, tmp_path):
    code = """
    from keyword_provider.provider import KeywordProvider
    from jury_providers.provider import Provider

    class Acme(Provider):
        def __init__(self, endpoint):
            self.endpoint = endpoint

        async def call(self, request, on_chunk=None):
            reply = await KeywordProvider(None).call(request, on_chunk)
            return reply._replace(model_version=self.endpoint.base_url)

    def make(endpoint):
        return Acme(endpoint)
    """
    target = write_package(tmp_path / "packages", "acme_models", code, providers="acme = acme_models:make")
    shutil.copytree(EXAMPLE / "keyword_provider", target / "keyword_provider")
    jury.write(
        "panel.yaml",
        "preset: independent\nproviders: {acme: {base_url: 'http://a.example/x/m-7'}}\nseats: [{model: acme/m}]\n",
    )
    cases = jury.write("cases.jsonl", {"id": "c1", "question": "q", "response": "a"})

    process = jury.start(
        "run", cases, "--panel", "panel.yaml", "--in-process", "--jsonl", env={"PYTHONPATH": str(target)}
    )
    out, err = process.communicate()

    assert process.returncode == 0, err
    line = json.loads(out)
    assert [other["answered"] for other in line["model_mismatches"]] == ["http://a.example/x/m-7"]
    assert line["simulated"] is False


@pytest.mark.full
def test_the_example_package_answers_a_probe(jury, packages):
    process = jury.start("doctor", "--probe", "--panel", str(EXAMPLE / "panel.yaml"), env={"PYTHONPATH": str(packages)})
    out, err = process.communicate()

    assert process.returncode == 0, err
    assert b"keyword/first: answered in " in out


def test_what_is_redacted_leaves_no_trace(jury):
    shutil.copy(ROOT / "examples" / "redaction.yaml", jury.folder)
    jury.write("records.jsonl", {"verdict": "fail", "reason": f"It disclosed {MAIL}."})
    cases = jury.write(
        "cases.jsonl",
        {
            "id": "c1",
            "question": f"Refund {MAIL}.",
            "messages": [
                {"role": "user", "content": f"My card is {CARD}."},
                {"role": "assistant", "content": "", "tool_calls": [{"name": "t", "arguments": {"to": MAIL}}]},
            ],
            "response": f"I refunded {CARD} and wrote to {MAIL}.",
            "security_gate_uri": "records.jsonl",
        },
    )

    first = jury.run(cases, "--panel", "redaction.yaml", "--run", "r", "--jsonl")
    shown = jury("show", "r~c1", "--full")
    again = jury.run(cases, "--panel", "redaction.yaml", "--run", "r", "--jsonl")
    otherwise = jury.run(cases, "--panel", "independent", "--run", "r")

    kept = b"".join(path.read_bytes() for path in jury.folder.glob("jury.db*"))
    assert first.code == 0, first.err
    assert "[e-mail]" in shown.out
    assert "[card]" in shown.out
    for secret in (MAIL, CARD, "ann.b", "4242"):
        assert secret.encode() not in kept
        assert secret not in shown.out + first.out + first.err
    assert again.out == first.out
    assert (otherwise.code, "its content has changed since" in otherwise.err) == (2, True)


def _content(path):
    """The bytes of a file that another process may create and delete meanwhile."""
    with suppress(FileNotFoundError):
        return path.read_bytes()
    return b""


@pytest.mark.full
@pytest.mark.kill
def test_what_is_redacted_is_not_in_the_log_while_it_is_written(jury, tmp_path):
    """A writer that was killed leaves a WAL beside the file."""
    shutil.copy(ROOT / "examples" / "redaction.yaml", jury.folder)
    cases = jury.write("cases.jsonl", {"id": "c1", "question": f"Refund {MAIL}.", "response": "No."})
    with (jury.folder / "out").open("wb") as out:
        process = jury.start(
            "run", cases, "--panel", "redaction.yaml", "--in-process", "--simulate", "timeout=1.0", stdout=out
        )
    wal = jury.folder / "jury.db-wal"
    eventually(lambda: b"[e-mail]" in _content(wal))
    process.kill()
    process.communicate()

    kept = b"".join(path.read_bytes() for path in jury.folder.rglob("*") if "jury.db" in str(path) and path.is_file())
    assert b"[e-mail]" in kept
    assert MAIL.encode() not in kept


@pytest.mark.full
def test_a_redactor_that_is_not_a_function_is_named(jury, tmp_path):
    target = write_package(tmp_path / "packages", "acme_names", "NAMES = 1\n", redactors="names = acme_names:NAMES")
    jury.write("panel.yaml", "redact: [{redactor: names}]\n")
    cases = jury.write("cases.jsonl", {"id": "c1", "question": "q", "response": "a"})

    process = jury.start("run", cases, "--panel", "panel.yaml", "--in-process", env={"PYTHONPATH": str(target)})
    _, err = process.communicate()

    assert process.returncode == 2
    assert err.decode() == "jury: panel.yaml:1: redact.0.redactor: acme_names:NAMES is not a function\n"
