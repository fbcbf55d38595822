"""A panel read back from the log is the panel that sat, and can be changed like a written one."""

from typing import Any

from jury_debate import (
    PROMPTS,
    PanelSpec,
    ResolvedPanel,
    described,
    newest_rules,
    panel_differences,
    panel_digest,
    recorded_panel,
    resolve,
    spec_of,
)
from jury_replay import branch_id
from support.debate_harness import SECRET, DeterministicParts, a_case
from support.each_row import each_row

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


@each_row("spec", PANELS)
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
