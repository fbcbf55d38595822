"""A seat's effort is part of its identity: of its default id and name, and of the panel."""

from jury_debate import PanelSpec, ResolvedPanel, panel_differences, panel_digest, resolve, spec_of

MODEL = "openai/gpt-6-sol"


def a_panel(*efforts: str | None, **spec: object) -> ResolvedPanel:
    seats = [{"model": MODEL, "settings": {} if effort is None else {"effort": effort}} for effort in efforts]
    return resolve(PanelSpec.model_validate({"seats": seats, "final": {"method": "majority_vote"}, **spec}))


def test_seats_of_one_model_with_other_efforts_have_ids_and_names_of_their_own() -> None:
    panel = a_panel(None, "low", "high", "high").panel

    assert ("gpt-6-sol", "gpt-6-sol-low", "gpt-6-sol-high", "gpt-6-sol-high-2") == panel.juror_ids
    assert [False, True, False, False] == ["gpt-6-sol, low" in seat.role_name for seat in panel.seats]


def test_an_effort_of_the_whole_panel_counts_too() -> None:
    assert ("gpt-6-sol-low",) == a_panel(None, settings={"effort": "low"}).panel.juror_ids


def test_panels_of_other_efforts_are_other_panels() -> None:
    low, high = (
        resolve(
            PanelSpec.model_validate({"seats": [{"model": MODEL, "juror_id": "a", "settings": {"effort": effort}}]})
        )
        for effort in ("low", "high")
    )

    assert panel_digest(low.panel) != panel_digest(high.panel)
    assert "seats.0.settings.effort" in [difference.field for difference in panel_differences(low, high)]


def test_a_recorded_panel_resolves_to_itself() -> None:
    resolved = a_panel(None, "low", "high")

    assert resolved.panel == resolve(spec_of(resolved)).panel
