"""`jury doctor` looks at a panel: its keys, its models' ends, and, if asked, whether they answer."""

from pathlib import Path

import pytest

from jury_providers import installed_providers
from support.command_line import CommandLine
from support.packages import write_package
from support.ray_head import ray_head

ACME = """
from jury_providers.provider import ModelReply, Provider
from jury_events.outcome import CallOutcome

class Acme(Provider):
    async def call(self, request, on_chunk=None):
        if request.model == "silent":
            return ModelReply(CallOutcome.QUOTA, error="pay first\\nsecond line")
        version = "modern-2" if request.model == "old" else request.model + "-001"
        return ModelReply(CallOutcome.ANSWERED, answer=b"{}", model_version=version)

def make(endpoint):
    return Acme()
"""


@pytest.fixture
def acme(jury: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """`jury doctor --panel` where the provider `acme` is installed."""
    target = write_package(tmp_path / "packages", "acme_models", ACME, providers="acme = acme_models:make")
    monkeypatch.syspath_prepend(target)

    def doctor(panel: str, *options: str) -> tuple[int, list[str], str]:
        jury.write("panel.yaml", panel)
        outcome = jury("doctor", "--panel", "panel.yaml", *options)
        return outcome.code, outcome.out.splitlines(), outcome.err

    installed_providers.cache_clear()
    yield doctor
    installed_providers.cache_clear()


def test_keys_that_a_panel_needs_are_named(jury):
    outcome = jury("doctor", "--panel", "current", "--probe", env={"OPENAI_API_KEY": "canary"})

    lines = outcome.out.splitlines()
    assert outcome.code == 2
    assert "ok       panel: current, juror-gpt, juror-claude, juror-gemini" in lines
    assert "problem  provider anthropic: no key is set; set ANTHROPIC_API_KEY" in lines
    assert "problem  provider google: no key is set; set GOOGLE_API_KEY or GEMINI_API_KEY" in lines
    assert not any("problem  provider openai" in line for line in lines)
    assert "canary" not in outcome.out
    assert "probing" not in outcome.out


def test_an_open_cluster_is_a_problem(jury):
    with ray_head(None) as address:
        outcome = jury("doctor", "--ray-address", address)

    assert outcome.code == 2
    assert f"problem  the Ray cluster at {address} requires no token: anyone who reaches its ports" in outcome.out


FOREIGN = """
preset: independent
settings: {tries: 1, timeout_seconds: 5}
providers: {a: {protocol: openai, base_url: "https://keys.invalid/v1", key_env: SOME_SECRET}}
seats: [{model: a/m}]
"""


@pytest.mark.parametrize("command", [("doctor",), ("run", "c.jsonl", "--in-process", "--display", "none")])
def test_a_key_that_a_panel_sends_elsewhere_is_named_with_the_host(jury, command):
    (jury.folder / "panel.yaml").write_text(FOREIGN)
    jury.write("c.jsonl", {"question": "q", "response": "a"})

    outcome = jury(*command, "--panel", "panel.yaml", env={"SOME_SECRET": "canary"})

    assert "the value of SOME_SECRET is sent to https://keys.invalid (provider a)" in outcome.out + outcome.err
    assert "canary" not in outcome.out + outcome.err


OWN_JUDGE = """
preset: independent
settings: {tries: 1, timeout_seconds: 5}
providers: {a: {protocol: openai, base_url: "https://keys.invalid/v1"}}
seats: [{model: a/m}]
final: {method: final_judge, judge: {model: a/m, fallbacks: [simulated/spare]}}
"""


@pytest.mark.parametrize(
    "command",
    [
        ("doctor",),
        ("run", "c.jsonl", "--dry-run"),
        ("run", "c.jsonl", "--in-process", "--display", "none", "--max-calls", "0"),
    ],
)
def test_recipients_of_data_are_named_before_a_call(jury, command):
    (jury.folder / "panel.yaml").write_text(OWN_JUDGE)
    jury.write("c.jsonl", {"question": "q", "response": "a"})

    outcome = jury(*command, "--panel", "panel.yaml")

    said = outcome.out + outcome.err
    assert "ase data may be sent to https://keys.invalid (a: m), which is not api.openai.com" in said
    assert "imulated (spare as a fallback): no model is called, nothing is sent" in said
    assert "the final judge a/m is also the model of m, so it judges its own statements" in said


def test_a_panel_that_cannot_be_used_is_a_problem(jury):
    jury.write("panel.yaml", "seats: [{model: acme/m, juror_id: a}]\n")

    missing = jury("doctor", "--panel", "nowhere.yaml")
    foreign = jury("doctor", "--panel", "panel.yaml", "--probe")

    assert (missing.code, foreign.code) == (2, 2)
    assert "problem  panel: nowhere.yaml: there is no such panel file" in missing.out
    assert "problem  panel: seat a: model 'acme/m' needs the provider 'acme'" in foreign.out
    assert "probing" not in foreign.out


def test_a_probe_of_simulated_jurors_reports_that_no_model_was_called(jury):
    outcome = jury("doctor", "--probe")

    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert "note     probing: 2 calls, one for each model of the panel, for up to 120 s" in lines
    assert sum(line.endswith("by simulated-1 (simulated: no model was called)") for line in lines) == 2


def test_a_probe_prints_which_model_answered(acme):
    code, lines, _ = acme("seats: [{model: acme/new, fallbacks: [acme/old]}]\nfinal: {method: median}\n", "--probe")

    assert code == 0
    assert "note     probing: 2 calls, one for each model of the panel, for up to 120 s" in lines
    assert [line.split(" in ")[0] + " by" + line.rpartition(" by")[2] for line in lines[-2:]] == [
        "ok       acme/new: answered by new-001",
        "warning  acme/old: answered by modern-2, which is another model",
    ]


@pytest.mark.full
@pytest.mark.parametrize(
    ("panel", "code", "mark"),
    [
        ("seats: [{model: acme/silent}]\nfinal: {method: median}\n", 4, "problem"),
        pytest.param(
            "seats: [{model: acme/new}]\nfinal: {judge: {model: acme/silent}}\n", 4, "problem", marks=pytest.mark.full
        ),
        pytest.param(
            "seats: [{model: acme/new, fallbacks: [acme/silent]}]\nfinal: {method: median}\n",
            0,
            "warning",
            marks=pytest.mark.full,
        ),
    ],
)
def test_a_seat_whose_model_does_not_answer_stops_a_probe_and_a_fallback_does_not(acme, panel, code, mark):
    found, lines, _ = acme(panel, "--probe")

    assert code == found
    (line,) = [line for line in lines if "acme/silent" in line]
    assert line.startswith(f"{mark:<8} acme/silent: quota after ")
    assert line.endswith(" ms: pay first␊second line")
