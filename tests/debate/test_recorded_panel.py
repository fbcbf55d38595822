"""A panel read back from the log is the panel that sat, and can be changed like a written one."""

from typing import Any

from jury_debate import (
    PROMPTS,
    RULES,
    PanelSpec,
    ResolvedPanel,
    Rules,
    described,
    newest_rules,
    panel_differences,
    panel_digest,
    reads_images,
    recorded_panel,
    resolve,
    spec_of,
)
from jury_replay import branch_id
from support.debate_harness import SECRET, DeterministicParts, a_case, a_panel
from support.each_row import each_row
from support.scales import ANSWERS, LEVELS, YES_NO

GEMINI = {"model": "google/gemini-2.5-pro"}
CHOSEN = {"model": "google/gemini-2.5-pro", "fallbacks": ["openai/spare"], "role_name": "The third"}
PANELS: list[dict[str, Any]] = [
    {},
    {"preset": "adk-sequential", "language": "ja", "rubric": "aisev"},
    {"preset": "independent", "rubric": {"care": 60.0, "tone": 40.0}},
    {
        "name": "mixed",
        "seats": [
            {"model": "gpt-4o", "prompt": "Look for leaks.", "weight": 2.0, "settings": {"temperature": 0.5}},
            GEMINI,
            CHOSEN,
            {"model": "simulated/a", "role": "tone", "role_focus": "politeness"},
        ],
        "settings": {"seed": 7},
        "discussion": {"stagnation_rounds": 2, "speakers": {"kind": "seeded", "seed": 4}},
        "final": {"bands": {"safe_pass": 80.0}, "quorum": 1, "judge": {**GEMINI, "prompt": "Be strict."}},
        "answers": {"repairs": 0, "safety_filter": "abstain"},
        "artifacts": {"mode": "inline"},
    },
]
EFFORTS = [{"model": "openai/gpt-6-sol", "settings": {"effort": effort}} for effort in ("low", "high")]
CRITICAL = [{**ANSWERS["criteria"][0], "critical": "fail", "critical_below": 0.6}, ANSWERS["criteria"][1]]
SCALED: list[dict[str, Any]] = [
    {**fields, "language": language}
    for fields in (ANSWERS, LEVELS, YES_NO, {"scale": "code-review"}, {"criteria": "none"}, {"criteria": CRITICAL}, {})
    for language in ("en", "ja")
]


def a_resolved(spec: object) -> ResolvedPanel:
    return resolve(PanelSpec.model_validate(spec))


@each_row("prompts", PROMPTS)
@each_row("spec", PANELS)
def test_the_panel_of_an_opening_event_is_the_one_that_opened_it(spec: object, prompts: int) -> None:
    resolved, pen = resolve(PanelSpec.model_validate(spec), prompts=prompts), DeterministicParts()
    opened = newest_rules().open_debate(
        a_case(),
        resolved.panel,
        debate_id="d",
        run_id=None,
        secret=SECRET,
        parts=pen,
        role_prompts=resolved.role_prompts,
        judge_prompt=resolved.judge_prompt,
        prompts_version=prompts,
    )

    assert resolved == recorded_panel(opened, pen.texts)


@each_row("spec", [*PANELS, *SCALED, {"seats": EFFORTS}, {"marking": "words"}])
def test_the_spec_of_a_recorded_panel_resolves_to_it(spec: object) -> None:
    resolved = a_resolved(spec)

    assert resolved == resolve(spec_of(resolved))


def test_a_spec_omits_values_that_follow_from_the_model() -> None:
    gpt, gemini, chosen, _ = spec_of(a_resolved(PANELS[3])).seats

    assert ((), None) == (gpt.fallbacks, gpt.role_name)
    assert ((), None) == (gemini.fallbacks, gemini.role_name), "no other vendor answers unless a panel names it"
    assert (chosen.fallbacks, chosen.role_name) == (("openai/spare",), "The third")


def test_panels_are_compared_field_by_field_with_their_custom_prompts() -> None:
    before = a_resolved({"seats": [{"model": "simulated/a", "prompt": "Look."}], "final": {"method": "median"}})
    now = a_resolved({"seats": [{"model": "simulated/a", "prompt": "Listen."}], "discussion": {"threshold": 0.67}})

    found = {one.field: (one.before, one.now) for one in panel_differences(before, now)}

    assert ("Look.", "Listen.") == found.pop("role_prompt/a")
    assert (2.0, 0.67) == found.pop("discussion.threshold")
    assert ("median", "final_judge") == found.pop("final.method")
    assert all(field.startswith("final.judge") for field in found)
    assert () == panel_differences(now, now)


def test_many_differences_are_abbreviated() -> None:
    different = panel_differences(a_resolved(PANELS[0]), a_resolved(PANELS[3]))

    text = described(different, 2)

    assert text.startswith("name was 'parallel-rounds', is 'mixed'; seats.0.juror_id was")
    assert text.endswith(f"; and {len(different) - 2} more")


CARRIED = {"cache": "1h", "warm": "off", "tier": "flex", "flex_fallback": "on"}


@each_row("spec", PANELS)
def test_how_calls_are_carried_out_is_no_part_of_a_panels_identity(spec: dict[str, Any]) -> None:
    before = a_resolved(spec)
    now = a_resolved({**spec, "settings": {**spec.get("settings", {}), **CARRIED}})

    assert before.panel != now.panel
    assert () == panel_differences(before, now)
    assert panel_digest(before.panel) == panel_digest(now.panel)
    assert branch_id("d", 3, before) == branch_id("d", 3, now)


@each_row("spec", PANELS)
@each_row("setting", [{"effort": "high"}, {"thinking": 2048}, {"verbosity": "low"}, {"top_p": 0.5}])
def test_how_a_model_is_asked_is_part_of_a_panels_identity(spec: dict[str, Any], setting: dict[str, Any]) -> None:
    before = a_resolved(spec)
    now = a_resolved({**spec, "settings": {**spec.get("settings", {}), **setting}})

    (name,) = setting
    different = {one.field.rpartition(".")[2] for one in panel_differences(before, now)}
    # The default id and name of a seat have its effort.
    assert name in different
    assert name == "effort" or {name} == different
    assert panel_digest(before.panel) != panel_digest(now.panel)
    assert branch_id("d", 3, before) != branch_id("d", 3, now)


@each_row(("number", "rules"), RULES.items())
def test_an_opening_event_names_the_rules_that_made_it(number: int, rules: Rules) -> None:
    opened = rules.open_debate(
        a_case(), a_panel("gpt"), debate_id="d", run_id=None, secret=SECRET, parts=DeterministicParts()
    )

    assert number == opened.rules


MODEL = "openai/gpt-6-sol"


def of_efforts(*efforts: str | None, **spec: object) -> ResolvedPanel:
    seats = [{"model": MODEL, "settings": {} if effort is None else {"effort": effort}} for effort in efforts]
    return resolve(PanelSpec.model_validate({"seats": seats, "final": {"method": "majority_vote"}, **spec}))


def test_seats_of_one_model_with_other_efforts_have_ids_and_names_of_their_own() -> None:
    panel = of_efforts(None, "low", "high", "high").panel

    assert ("gpt-6-sol", "gpt-6-sol-low", "gpt-6-sol-high", "gpt-6-sol-high-2") == panel.juror_ids
    assert [False, True, False, False] == ["gpt-6-sol, low" in seat.role_name for seat in panel.seats]


def test_an_effort_of_the_whole_panel_counts_too() -> None:
    assert ("gpt-6-sol-low",) == of_efforts(None, settings={"effort": "low"}).panel.juror_ids


def of_seats(*seats: dict[str, object], own_servers: tuple[str, ...] = (), **spec: object) -> ResolvedPanel:
    return resolve(PanelSpec.model_validate({"seats": seats, **spec}), own_servers)


def seat_images(*seats: dict[str, object], own_servers: tuple[str, ...] = ()) -> list[bool]:
    return [seat.images for seat in of_seats(*seats, own_servers=own_servers).panel.seats]


@each_row(
    ("model", "reads"),
    [
        ("openai/gpt-5.4-mini", True),
        ("openai/gpt-4o", True),
        ("openai/gpt-4-turbo-2024-04-09", True),
        ("openai/gpt-4.1-mini", True),
        ("openai/o3", True),
        ("openai-responses/gpt-6-sol", True),
        ("anthropic/claude-haiku-5-5", True),
        ("anthropic/claude-3-haiku-20240307", True),
        ("google/gemini-2.5-flash", True),
        ("openai/gpt-3.5-turbo-0125", False),
        ("openai/gpt-4", False),
        ("openai/gpt-4-0613", False),
        ("openai/o1-mini", False),
        ("openai-responses/o3-mini-2025-01-31", False),
        ("anthropic/claude-2.1", False),
        ("anthropic/claude-instant-1.2", False),
        ("google/gemini-1.0-pro", False),
        ("simulated/juror", False),
        ("local/llama-4", False),
        ("openaix/gpt-4o", False),
    ],
)
def test_models_are_known_to_read_pictures_by_their_names(model: str, *, reads: bool) -> None:
    assert reads is reads_images(model)


@each_row(
    ("seat", "images"),
    [
        ({"model": "gpt-4o", "fallbacks": ["claude-haiku-5-5"]}, True),
        ({"model": "gpt-4o", "fallbacks": ["claude-haiku-5-5", "gpt-3.5-turbo"]}, False),
        ({"model": "gemini-2.5-flash", "fallbacks": ["simulated/juror"]}, False),
        # What the panel says wins.
        ({"model": "gpt-4o", "images": False}, False),
        ({"model": "simulated/juror", "images": True}, True),
        ({"model": "local/llama-4", "images": True}, True),
    ],
)
def test_a_seat_is_sent_pictures_where_all_its_models_read_them(seat: dict[str, object], *, images: bool) -> None:
    assert [images] == seat_images(seat)


def test_models_of_a_custom_server_are_unknown() -> None:
    assert [False, True] == seat_images(
        {"model": "openai/gpt-4o"}, {"model": "claude-haiku-5-5"}, own_servers=("openai",)
    )


@each_row(
    ("judge", "images"),
    [
        ({"model": "gemini-3.8-flash"}, True),
        ({"model": "gemini-3.8-flash", "images": False}, False),
        ({"model": "simulated/judge"}, False),
        ({"model": "simulated/judge", "images": True}, True),
    ],
)
def test_the_final_judge_is_treated_like_a_seat(judge: dict[str, object], *, images: bool) -> None:
    panel = of_seats({"model": "simulated/juror"}, final={"judge": judge}).panel

    assert panel.final.judge is not None
    assert images is panel.final.judge.images


WITH_PICTURES = of_seats(
    {"model": "gpt-4o", "juror_id": "default"},
    {"model": "gpt-4o", "juror_id": "off", "images": False},
    {"model": "simulated/juror", "juror_id": "on", "images": True},
    {"model": "gpt-4o", "juror_id": "kept", "fallbacks": ["gpt-3.5-turbo"]},
    final={"judge": {"model": "gemini-3.8-flash", "images": False}},
)


def test_a_spec_contains_chosen_values_and_omits_defaults() -> None:
    spec = spec_of(WITH_PICTURES)

    assert {"default": None, "off": False, "on": True, "kept": None} == {
        seat.juror_id: seat.images for seat in spec.seats
    }
    assert spec.final.judge is not None
    assert spec.final.judge.images is False
    assert WITH_PICTURES == resolve(spec)


def test_panels_differ_if_other_seats_are_sent_pictures() -> None:
    before, now = of_seats({"model": "gpt-4o", "images": False}), of_seats({"model": "gpt-4o"})

    (difference,) = panel_differences(before, now)

    assert "seats.0.images was False, is True" == str(difference)
