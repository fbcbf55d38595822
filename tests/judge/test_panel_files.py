"""Panels: from presets and files, with their seats, settings, providers and what is sent to those."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from jury_debate import PanelSpec, ResolvedPanel, SeatSpec, panel_differences, resolve
from jury_events import SettingError
from jury_judge import (
    BUNDLED_PANELS,
    LoadedPanel,
    Overrides,
    PanelFileError,
    SettingsRefused,
    any_panel,
    changed_panel,
    load_panel,
    load_settings,
)
from jury_judge.diagnosis import probed
from jury_providers import (
    Endpoint,
    Limits,
    connection_of,
    key_destinations,
    recipients,
    same_model_warning,
    simulation_server,
)
from jury_store import panel_fingerprint
from support.canned_server import canned_server
from support.dialects import DIALECTS, a_request
from support.each_row import each_row
from support.refusals import RefusalTables

FILE = """\
name: mine
preset: adk-sequential
language: ja
seats:
  - model: openai/gpt-4o
  - model: claude-3-haiku-20240307
    role: misuse_detection
discussion:
  max_rounds: 5
final:
  method: final_judge
  judge: {model: gemini-2.5-pro}
"""
Load = Callable[..., LoadedPanel]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Loads a panel whose file has this content."""

    def load(
        content: str | bytes, environ: Mapping[str, str] | None = None, name: str = "panel.yaml", **overrides: Any
    ) -> LoadedPanel:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return load_panel(str(path), environ or {}, Overrides(**overrides))

    return load


def test_a_file_is_read_in_yaml_and_in_json_with_tabs(load: Load) -> None:
    panel = load(FILE).panel

    assert ("mine", "ja", 5) == (panel.name, panel.language, panel.discussion.max_rounds)
    assert ("openai/gpt-4o", "anthropic/claude-3-haiku-20240307") == tuple(seat.model for seat in panel.seats)
    assert "ja" == load('{\n\t"preset": "independent",\n\t"language": "ja"\n}', name="panel.json").panel.language


ENVIRON = {
    "JURY_USE_COLLABORATIVE": "true",
    "JURY_MAX_DISCUSSION_ROUNDS": "2",
    "JURY_CONSENSUS_THRESHOLD": "1.0",
    "JURY_FINAL_JUDGMENT_METHOD": "final_judge",
    "JURY_FINAL_JUDGE_MODEL": "gpt-4o",
}


def test_the_environment_overrides_the_file_and_an_argument_the_environment(load: Load) -> None:
    of_environ = load(FILE, ENVIRON).panel
    of_arguments = load(FILE, ENVIRON, language="en", max_rounds=4, threshold=0.67, method="median").panel
    of_file = load(FILE, dict.fromkeys(ENVIRON, " ") | {"JURY_FINAL_JUDGMENT_METHOD": ""}).panel

    assert (2, 1.0) == (of_environ.discussion.max_rounds, of_environ.discussion.threshold)
    assert "openai/gpt-4o" == (of_environ.final.judge and of_environ.final.judge.model)
    found = of_arguments.discussion
    assert ("en", 4, 0.67, "median") == (
        of_arguments.language,
        found.max_rounds,
        found.threshold,
        of_arguments.final.method,
    )
    assert 5 == of_file.discussion.max_rounds, "a variable that is empty is unset"


def test_without_collaboration_the_seats_stay_and_do_not_discuss_unless_a_preset_is_named(load: Load) -> None:
    alone = load(FILE, {"JURY_USE_COLLABORATIVE": "false", "JURY_MAX_DISCUSSION_ROUNDS": "3"}).panel
    named = [
        load_panel("independent", {"JURY_USE_COLLABORATIVE": "true"}).panel.discussion.max_rounds,
        load_panel("parallel-rounds", {"JURY_USE_COLLABORATIVE": "false"}).panel.discussion.max_rounds,
    ]

    assert (2, 0, "majority_vote") == (len(alone.seats), alone.discussion.max_rounds, alone.final.method)
    assert [0, 3] == named


@each_row("name", BUNDLED_PANELS)
def test_a_bundled_panel_has_three_providers_and_uses_the_requested_preset(name: str) -> None:
    panel = load_panel(name, {}).panel
    other = load_panel(
        name, {"JURY_USE_COLLABORATIVE": "false"}, Overrides(preset="adk-sequential", language="en")
    ).panel

    assert (name, {"openai", "anthropic", "google"}) == (
        panel.name,
        {seat.model.partition("/")[0] for seat in panel.seats},
    )
    discussion = other.discussion
    assert ("sequential", 0.67, True) == (discussion.order, discussion.threshold, discussion.always_discuss)
    assert other.final.judge is not None
    assert "en" == other.language


def test_seats_beyond_three_take_the_roles_in_turn_and_those_of_one_model_get_distinct_ids(load: Load) -> None:
    panel = load("seats: [{model: gpt-4o}, {model: gpt-4o}, {model: gpt-4o}, {model: gpt-4o}, {model: a/b}]").panel
    most = load("seats:\n" + "- {model: a/b}\n" * 500).panel

    roles = ["policy_compliance", "security_leak_risk", "misuse_detection"]
    assert [*roles, *roles[:2]] == [seat.role for seat in panel.seats]
    assert ("gpt-4o", "gpt-4o-2", "gpt-4o-3", "gpt-4o-4", "b") == panel.juror_ids
    assert ("b", "b-2", "b-500") == (most.juror_ids[0], most.juror_ids[1], most.juror_ids[499])


def test_settings_of_the_panel_apply_to_every_seat_and_the_judge_unless_overridden(load: Load) -> None:
    content = (
        "settings: {temperature: 0.5, timeout_seconds: 30, tries: 2}\n"
        "seats:\n"
        "  - {model: a/b, settings: {temperature: 0.0, deadline_seconds: 90}}\n"
        "  - {model: a/c}\n"
        "final: {judge: {model: a/d, settings: {tries: 4, max_output_tokens: 500}}}\n"
    )
    found = [place.settings for place in load(content).panel.seats_and_judge]
    other = load("seats: [{model: a/b, settings: {tries: 4}}]\nsettings: {tries: 2}", {"JURY_FINAL_JUDGE_MODEL": "a/z"})

    assert [(0.0, 30, 2), (0.5, 30, 2), (0.5, 30, 4)] == [(s.temperature, s.timeout_seconds, s.tries) for s in found]
    assert [(90, 8192), (600, 8192), (600, 500)] == [(s.deadline_seconds, s.max_output_tokens) for s in found]
    assert [4, 2] == [place.settings.tries for place in other.panel.seats_and_judge]


def test_no_seat_and_no_judge_falls_back_on_a_model_twice(load: Load) -> None:
    panel = load(
        "seats: [{model: gpt-4o, fallbacks: [gpt-4o, a/b, openai/gpt-4o, a/b, a/c]}]\n"
        "final: {judge: {model: a/d, fallbacks: [a/d, a/b]}}\n"
    ).panel

    assert [("a/b", "a/c"), ("a/b",)] == [place.fallbacks for place in panel.seats_and_judge]


def test_prompts_are_written_or_read_from_a_file_beside_the_panel(load: Load, tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "strict.md").write_text("\ufeffJudge by the letter.\nBe brief – always.\n")
    (tmp_path / "judge.md").write_text("Weigh them.")

    resolved = load(
        "seats:\n"
        "  - {model: a/b, juror_id: one, prompt_file: prompts/strict.md}\n"
        "  - {model: a/b, juror_id: two, prompt: Be kind.}\n"
        "final: {judge: {model: a/c, prompt_file: judge.md}}\n"
    ).resolved

    assert {"one": "Judge by the letter.\nBe brief – always.", "two": "Be kind."} == resolved.role_prompts
    assert "Weigh them." == resolved.judge_prompt


LARGE = {
    "too many seats": "name: x\nseats:\n" + "- {model: a/b, prompt_file: none.md}\n" * 501,
    "far too many seats": "seats:\n" + "- {model: a/b}\n" * 30_000,
    "far too many dimensions": "rubric: {" + ", ".join(f"a{n}: 1" for n in range(30_000)) + "}",
    "far too many lists in lists": "seats: [" + ", ".join(["[" + "1, " * 1000 + "]"] * 300) + "]",
}


def test_a_file_that_cannot_be_used_is_named_with_line_field_and_remedy(
    refusals: RefusalTables, load: Load, tmp_path: Path
) -> None:
    (tmp_path / "empty.md").write_text(" \n")
    (tmp_path / "latin.md").write_bytes(b"a\n\xe9\n")
    (tmp_path / "large.md").write_text("x" * (1 << 20) + "y")
    os.mkfifo(tmp_path / "pipe.md")
    said: dict[str, str] = {}
    files = {**refusals.rows("panel_files"), "other bytes": b"name: x\nlanguage: \xe9\n"}
    for table, name in ((files, "panel.yaml"), (refusals.rows("panel_json_files"), "panel.json")):
        for row, content in table.items():
            with pytest.raises(PanelFileError) as refused:
                load(content, name=name)
            said[row] = str(refused.value)
            assert "\n" not in said[row]
            assert "canary" not in said[row]

    refusals.compare("panel_files", said)


@pytest.mark.full
def test_a_file_that_is_far_too_large_is_refused(refusals: RefusalTables, load: Load, tmp_path: Path) -> None:
    refusals.check("large_panels", LARGE, load, PanelFileError)


@pytest.mark.full
def test_a_rule_whose_groups_each_double_the_size_is_given_up(load: Load) -> None:
    with pytest.raises(PanelFileError, match="compiling it takes more than 3 CPU seconds or 1 GiB"):
        load(f"redact:\n  - {{pattern: '{'(?:' * 140}a{'){2}' * 140}', replace: x}}\n")


def test_names_variables_and_arguments_that_cannot_be_used_are_named_with_what_they_may_be(
    refusals: RefusalTables,
) -> None:
    def load(row: dict[str, Any]) -> LoadedPanel:
        return load_panel(row.get("name"), row.get("environ", {}), Overrides(**row.get("overrides", {})))

    refusals.check("panel_settings", refusals.rows("panel_settings"), load, PanelFileError, SettingsRefused)


URLS = {"of a file": "jury.db", "of another database": "mysql://u:pw@h/d", "of nothing": "sqlite://"}
URLS |= {"without a database": "postgresql://u:pw@h", "without an end": "http://[h/x"}


def test_the_store_is_explicit_or_of_the_environment_or_beside_you(refusals: RefusalTables) -> None:
    postgres, explicit = "postgresql://jury@db/jury", "sqlite:////var/jury.db"
    found = [load_settings(environ).store_url for environ in ({}, {"JURY_STORE_URL": ""}, {"JURY_STORE_URL": postgres})]

    assert ["sqlite:///jury.db", "sqlite:///jury.db", postgres] == found
    assert explicit == load_settings({"JURY_STORE_URL": "nonsense"}, store_url=explicit).store_url
    refusals.check("store_urls", URLS, lambda url: load_settings({"JURY_STORE_URL": url}), SettingError)
    assert {"a.example", "b.example:8443"} == load_settings(
        {"JURY_ARTIFACT_HOSTS": " A.example ,b.example:8443,"}
    ).artifact_hosts


SEATS = "seats:\n  - {model: local/m, juror_id: a}\n"


def test_endpoints_are_read_by_name_in_yaml_and_json(load: Load) -> None:
    loaded = load(
        SEATS
        + "providers:\n"
        + "  local: {protocol: openai, base_url: 'http://127.0.0.1:8000/v1', key_env: LOCAL_KEY}\n"
        + "  google: {api_version: v1beta, limits: {'gemini-*': {requests_per_minute: 60, in_flight: 8}}}\n"
    )
    in_json = '{"providers": {"local": {"protocol": "anthropic", "base_url": "http://h"}}}'

    assert {
        "local": Endpoint(protocol="openai", base_url="http://127.0.0.1:8000/v1", key_env="LOCAL_KEY"),
        "google": Endpoint(api_version="v1beta", limits={"gemini-*": Limits(requests_per_minute=60, in_flight=8)}),
    } == dict(loaded.endpoints)
    assert ("local/m", "google/gemini-2.5-pro") == loaded.panel.models
    assert "anthropic" == load(in_json, name="panel.json").endpoints["local"].protocol
    assert {} == dict(load("preset: independent\n").endpoints)


@pytest.mark.parametrize(
    "endpoint",
    [
        "base_url: 'http://127.0.0.1:8000/v1', key_env: A_KEY",
        "base_url: 'http://[::1]/v1', key_env: A_KEY",
        "base_url: 'http://models.localhost/v1', key_env: A_KEY",
        "base_url: 'https://h.example/v1', key_env: A_KEY",
        "base_url: 'http://h.example/v1'",
        "base_url: 'http://h.example/v1', key_env: A_KEY, plain_http: true",
    ],
)
def test_a_key_is_sent_over_tls_or_loopback_or_with_explicit_permission(load: Load, endpoint: str) -> None:
    assert "a" in load(f"providers:\n  a: {{protocol: openai, {endpoint}}}\n").endpoints


HEADERS = {"OPENAI_CUSTOM_HEADERS": "X-Gateway: secret", "OPENAI_ORG_ID": "org-1"}


@each_row(
    ("endpoint", "environ", "line"),
    [
        ({"base_url": "https://H.example:1/v1", "key_env": "K"}, {}, "K is sent to https://h.example:1"),
        ({"key_env": "AWS_SECRET"}, {}, "AWS_SECRET is sent to https://api.openai.com"),
        ({"key_env": "K"}, {"OPENAI_BASE_URL": "https://u:pw@p.example/v1"}, "K is sent to https://p.example"),
        ({"key_env": "K"}, {"OPENAI_BASE_URL": "http://127.0.0.1:1"}, None),
        ({"key_env": "OPENAI_API_KEY"}, {}, None),
        ({"base_url": "https://api.openai.com/v1", "key_env": "OPENAI_API_KEY"}, {}, None),
        ({"base_url": "http://127.0.0.1/v1", "key_env": "K"}, {}, None),
        ({"base_url": "https://h.example/v1"}, {"OPENAI_API_KEY": "k"}, None),
        (
            {},
            {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "https://p.example/v1"},
            "OPENAI_API_KEY is sent to https://p.example",
        ),
        (
            {"base_url": "https://h.example/v1"},
            HEADERS,
            "OPENAI_CUSTOM_HEADERS, OPENAI_ORG_ID is not sent to https://h.example",
        ),
        (
            {"base_url": "https://h.example/v1", "sdk_headers": "on"},
            HEADERS,
            "OPENAI_CUSTOM_HEADERS, OPENAI_ORG_ID is sent in headers to https://h.example",
        ),
        ({"base_url": "https://api.openai.com/v1"}, HEADERS, None),
    ],
)
def test_the_destination_of_each_key_is_printed_before_a_call(
    endpoint: dict[str, str], environ: dict[str, str], line: str | None
) -> None:
    panel = resolve(PanelSpec(preset="independent", seats=(SeatSpec(model="a/m"),)), ["a"]).panel
    endpoints = {
        "a": Endpoint.model_validate({"protocol": "openai", **endpoint}),
        "unused": Endpoint(protocol="openai", key_env="X"),
    }

    said = [one.partition(" (provider a)")[0] for one in key_destinations(panel, endpoints, environ)]
    assert ([] if line is None else [f"the value of {line}"]) == said


@each_row(
    ("url", "environ", "line"),
    [
        (
            "https://h.example/v1",
            {"HTTPS_PROXY": "http://me:pw@proxy.example:3128"},
            (
                "requests to https://h.example (provider a) go through proxy.example:3128, which HTTPS_PROXY names, "
                "with the user and password in it"
            ),
        ),
        (
            "http://h.example/v1",
            {"all_proxy": "socks5://proxy.example"},
            "requests to http://h.example (provider a) go through proxy.example, which all_proxy names",
        ),
        ("https://h.example/v1", {"HTTPS_PROXY": "http://proxy.example", "NO_PROXY": ".example"}, None),
        ("http://127.0.0.1:8000/v1", {"HTTP_PROXY": "http://proxy.example"}, None),
    ],
)
def test_a_proxy_that_the_environment_names_is_printed_before_a_call(
    url: str, environ: dict[str, str], line: str | None
) -> None:
    panel = resolve(PanelSpec(preset="independent", seats=(SeatSpec(model="a/m"),)), ["a"]).panel
    endpoints = {"a": Endpoint.model_validate({"protocol": "openai", "base_url": url})}

    assert (() if line is None else (line,)) == key_destinations(panel, endpoints, environ)


RECEIVING = {
    "preset": "independent",
    "seats": [
        {"model": "gpt-5.5", "fallbacks": ["gemini-3.8-flash", "local/spare"]},
        {"model": "simulated/juror"},
        {"model": "local/m"},
    ],
}


@each_row(
    ("environ", "openai", "google"),
    [
        ({}, "https://api.openai.com (openai: gpt-5.5)", ""),
        (
            {"OPENAI_BASE_URL": "http://user:secret@10.0.0.5:8000/v1"},
            "http://10.0.0.5:8000 (openai: gpt-5.5) by OPENAI_BASE_URL, which is not api.openai.com",
            "",
        ),
        (
            None,
            "https://api.openai.com (openai: gpt-5.5), or where OPENAI_BASE_URL on the cluster's nodes leads",
            ", or where GOOGLE_GEMINI_BASE_URL on the cluster's nodes leads",
        ),
    ],
)
def test_all_recipients_of_a_case_are_named_with_their_address(
    environ: dict[str, str] | None, openai: str, google: str
) -> None:
    panel = resolve(PanelSpec.model_validate(RECEIVING), ["local"]).panel
    endpoints = {"local": Endpoint(protocol="anthropic", base_url="https://models.example/x")}
    to = "case data may be sent to"

    assert (
        f"{to} {openai}",
        f"{to} https://generativelanguage.googleapis.com (google: gemini-3.8-flash as a fallback){google}",
        f"{to} https://models.example (local: spare as a fallback, m), which is not api.anthropic.com",
        "simulated (juror): no model is called, nothing is sent",
    ) == recipients(panel, endpoints, environ)


def test_a_final_judge_that_is_a_seats_model_is_named_and_a_gemini_model_has_no_implicit_fallback() -> None:
    def panel(seat: str, judge: str) -> ResolvedPanel:
        written = {"seats": [{"model": seat, "juror_id": "a"}], "final": {"judge": {"model": judge}}}
        return resolve(PanelSpec.model_validate(written))

    assert "openai/gpt-5.5 is also the model of a" in str(same_model_warning(panel("gpt-5.5", "openai/gpt-5.5").panel))
    assert same_model_warning(panel("gpt-5.5", "openai/gpt-5.4-mini").panel) is None
    assert ("google/gemini-3.5-flash-lite", "google/gemini-3.8-flash") == panel(
        "gemini-3.5-flash-lite", "gemini-3.8-flash"
    ).panel.models


@each_row(
    ("seats", "judge", "said"),
    [
        (("gpt-5.5", "openai/gpt-5.5"), "gpt-5.5", "all 2 seats are openai/gpt-5.5, and so is the final judge: "),
        (("gpt-5.5", "gpt-5.5", "gpt-5.5"), "gpt-5.4-mini", "all 3 seats are openai/gpt-5.5: they mostly err together"),
        (("gpt-5.5", "gpt-5.5", "gpt-5.4-mini"), "gemini-3.8-flash", None),
        (
            ("simulated/juror", "simulated/juror"),
            "simulated/juror",
            "the final judge simulated/juror is also the model",
        ),
    ],
)
def test_seats_of_one_model_are_named_with_what_that_is_worth(
    seats: tuple[str, ...], judge: str, said: str | None
) -> None:
    written = {
        "seats": [{"model": model, "juror_id": f"j{place}"} for place, model in enumerate(seats)],
        "final": {"judge": {"model": judge}},
    }
    warning = same_model_warning(resolve(PanelSpec.model_validate(written)).panel)

    assert said is None if warning is None else warning.startswith(str(said))


WINDOWS = PanelSpec.model_validate(
    {
        "seats": [
            {"model": "openai/gpt-5.4", "fallbacks": ["openai/gpt-4o"], "juror_id": "a"},
            {"model": "openai/gpt-5.4", "juror_id": "b", "fallbacks": [], "window": 50_000},
            {"model": "own/m", "juror_id": "c", "fallbacks": []},
        ],
        "final": {"method": "final_judge", "judge": {"model": "anthropic/claude-haiku-4-5", "fallbacks": []}},
    }
)


def windows(panel: LoadedPanel | ResolvedPanel) -> list[int | None]:
    return [place.window for place in any_panel(panel, {}, Overrides()).resolved.panel.seats_and_judge]


def test_known_windows_are_written_out_and_are_no_part_of_what_a_panel_is() -> None:
    bare = resolve(WINDOWS)
    loaded = LoadedPanel(bare, {"own": Endpoint(window=9_000)})
    filled = any_panel(loaded, {}, Overrides()).resolved

    assert [128_000, 50_000, 9_000, 200_000] == windows(loaded)
    assert [128_000, 50_000, None, 200_000] == windows(bare)
    assert bare.panel != filled.panel
    assert () == panel_differences(bare, filled)
    assert 1 == len({panel_fingerprint(one.panel.model_dump(mode="json")) for one in (bare, filled)})


@each_row(
    ("judge", "models", "found"),
    [
        (None, {"b": "openai/gpt-4o"}, [128_000, None, None, 200_000]),
        (None, {"b": "openai/gpt-5.4"}, [128_000, 50_000, None, 200_000]),
        ("openai/gpt-4.1", {}, [128_000, 50_000, None, None]),
        ("anthropic/claude-haiku-4-5", {}, [128_000, 50_000, None, 200_000]),
    ],
)
def test_another_model_does_not_take_over_the_window(
    judge: str | None, models: dict[str, str], found: list[int | None]
) -> None:
    filled = any_panel(LoadedPanel(resolve(WINDOWS)), {}, Overrides()).resolved
    changed = changed_panel(filled, Overrides(judge_model=judge), models)

    assert found == [place.window for place in changed.panel.seats_and_judge]


SAID_OF_WINDOWS = {
    "": [("note", "; so that cases are compared with it, write window: 20000 at providers.own")],
    ", window: 32000": [
        ("warning", ", fewer than the 32,000 that are assumed; write window: 20000 at providers.own"),
    ],
    ", window: 20000": [],
    ", window: 16000": [],
}


async def test_a_window_that_a_server_names_is_said_where_nothing_or_more_was_assumed(load: Load) -> None:
    news = "own/m: its server says that its window is 20,000 tokens"
    async with simulation_server(window=20_000) as server:
        for written, found in SAID_OF_WINDOWS.items():
            own = f"{{protocol: openai, base_url: '{server.url}/v1'{written}}}"
            panel = load(f"providers: {{own: {own}}}\nseats: [{{model: own/m}}]\nfinal: {{method: median}}\n")
            said = [(one.mark, one.line) async for one in probed(panel)]

            assert [(mark, f"{news}{line}") for mark, line in found] == [one for one in said if "window" in one[1]]


PAID_SEATS = """
seats:
  - {juror_id: a, model: openai/gpt-6-sol}
  - {juror_id: b, model: openai/gpt-6-sol, settings: {tier: priority, cache: off}}
  - {juror_id: c, model: anthropic/claude-haiku-5-5}
final: {method: majority_vote}
"""


CARRIAGE = ("tier", "flex_fallback", "cache", "warm")


@pytest.fixture
def loaded(tmp_path):
    def load(providers=""):
        path = tmp_path / "panel.yaml"
        path.write_text(PAID_SEATS + providers, encoding="utf-8")
        return load_panel(str(path), {})

    return load


def test_a_seat_has_what_its_provider_says_where_it_says_nothing(loaded) -> None:
    a, b, c = loaded("providers: {openai: {tier: flex, flex_fallback: on, cache: 30m, warm: off}}").panel.seats

    assert ("flex", "on", "30m", "off") == tuple(getattr(a.settings, name) for name in CARRIAGE)
    assert ("priority", "on", "off", "off") == tuple(getattr(b.settings, name) for name in CARRIAGE)
    assert (None,) * 4 == tuple(getattr(c.settings, name) for name in CARRIAGE)


def test_a_field_of_ours_a_secret_and_a_wrong_word_are_refused_by_name_and_line(refusals, tmp_path, loaded) -> None:
    rows = {field: f"providers: {{openai: {{{field}}}}}" for field in refusals.rows("panel_providers")}
    rows["another protocol without an address"] = "providers: {claude-aws: {protocol: anthropic}}"

    refusals.check("panel_providers", rows, loaded, PanelFileError)


@pytest.mark.parametrize("dialect", [DIALECTS[0], *(pytest.param(one, marks=pytest.mark.full) for one in DIALECTS[1:])])
async def test_what_a_provider_adds_is_sent_and_recorded(loaded, dialect) -> None:
    added = (
        "{extra_body: {safety: low, store: false, stop_token_ids: [2]}, extra_headers: {X-Team: judges, X-Author: me}}"
    )
    endpoint = loaded(f"providers: {{{dialect.name}: {added}}}").endpoints[dialect.name]
    async with canned_server(dialect.canned("{}")) as server:
        connection = connection_of(dialect.name, dialect.name, endpoint, {})
        adapter = dialect.make(connection._replace(base_url=server.url + dialect.base, key="sk-test"))
        sent = json.loads((await adapter.call(a_request())).sent or b"{}")
        await adapter.close()

    (asked,) = server.asked
    assert ("low", False, "judges") == (asked.json["safety"], asked.json["store"], asked.headers["x-team"])
    assert ("low", "judges") == (sent["body"]["safety"], sent["headers"]["x-team"])


@pytest.mark.parametrize(
    ("providers", "images"),
    [
        ("", True),
        ("providers: {openai: {limits: {'*': {in_flight: 3}}}}", True),
        ("providers: {openai: {base_url: 'http://127.0.0.1:4000/v1'}}", False),
    ],
    ids=["the provider's own", "with limits", "a server of one's own"],
)
def test_a_custom_server_is_sent_no_pictures_by_default(loaded, providers: str, *, images: bool) -> None:
    assert [images, images, True] == [seat.images for seat in loaded(providers).panel.seats]


def test_named_models_are_seated_in_the_three_roles_and_no_other_is_asked() -> None:
    one = load_panel(None, {}, Overrides(seat_models=("gpt-5.4-mini",))).panel
    two = load_panel("independent", {}, Overrides(seat_models=("gpt-5.4-mini", "claude-haiku-5-5"))).panel

    assert (3, ("openai/gpt-5.4-mini",)) == (len(one.seats), one.models)
    assert 3 == len({seat.role_name for seat in one.seats})
    assert ["openai", "anthropic", "openai"] == [seat.model.partition("/")[0] for seat in two.seats]
    assert {"openai/gpt-5.4-mini", "anthropic/claude-haiku-5-5"} == {*two.models}
    with pytest.raises(PanelFileError, match="seats its own models"):
        load_panel("current", {}, Overrides(seat_models=("gpt-5.4-mini",)))
