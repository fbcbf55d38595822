"""Pictures and a run: what a panel file says of its servers, what a dry run counts, and runs begun before pictures."""

import json
from datetime import date
from pathlib import Path

import pytest

from jury_debate import RULES_OF_PROMPTS_1, ResolvedPanel
from jury_events import (
    DebateOpened,
    ExchangeRecorded,
    Part,
    PartBuffer,
    calls_stream,
    debate_stream,
    decode,
    encode,
    refs_in,
)
from jury_judge import RunRefused, estimate, load_panel
from jury_judge.runs.preflight import is_over
from jury_judge.stores.debates import compared_panel
from jury_providers import ESTIMATED_PICTURE_TOKENS, Prices, picture_token_upper_bound
from jury_providers.price import Price
from jury_providers.tokens import MAX_PICTURE_TOKENS
from jury_store import Append, Appended
from support.pictures import OTHER_PNG, PNG, a_case_with_pictures
from support.runtime_harness import KeptStore, Run, a_resolved, completed

ON = date(2026, 11, 21)
PRICES = Prices((Price(models=("openai/*",), input=1.0, output=10.0),))
LATER_FIELDS = ("metadata", "tags", "cluster", "agent_cost", "omissions", "images")


@pytest.mark.parametrize(
    ("providers", "images"),
    [
        ("", [True, True]),
        ("providers: {openai: {limits: {'*': {in_flight: 3}}}}\n", [True, True]),
        ("providers: {openai: {base_url: 'http://127.0.0.1:4000/v1'}}\n", [False, True]),
    ],
    ids=["the provider's own", "with limits", "a server of one's own"],
)
def test_a_panel_with_a_custom_server_sends_it_no_pictures_by_default(
    tmp_path: Path, providers: str, images: list[bool]
) -> None:
    path = tmp_path / "panel.yaml"
    path.write_text(f"{providers}seats: [{{model: gpt-4o}}, {{model: claude-haiku-5-5}}]\n")

    assert images == [seat.images for seat in load_panel(str(path), {}).panel.seats]


def test_every_model_of_the_bundled_panels_gets_pictures() -> None:
    for name in ("documents", "current"):
        assert {True} == {place.images for place in load_panel(name, {}).panel.seats_and_judge}


def a_seat(*, images: bool, model: str = "openai/gpt-x") -> ResolvedPanel:
    seats = [{"model": model, "juror_id": "one", "images": images}]
    return a_resolved(preset="independent", seats=seats)


@pytest.mark.parametrize(("model", "most"), [("openai/gpt-x", MAX_PICTURE_TOKENS), ("openai/gpt-4o-mini", 48_169)])
def test_an_estimate_counts_a_constant_per_picture_for_each_recipient(model: str, most: int) -> None:
    case = a_case_with_pictures()
    found = {
        images: estimate(
            a_seat(images=images, model=model), [case], debates=1, prices=PRICES, endpoints={}, on=ON
        ).models[0]
        for images in (True, False)
    }

    assert most == picture_token_upper_bound(model.partition("/")[2])
    # The text of a case differs a little: it numbers the pictures or says that they are not shown.
    assert 2 * ESTIMATED_PICTURE_TOKENS == pytest.approx(
        found[True].input_tokens.likely - found[False].input_tokens.likely, abs=100
    )
    assert 2 * most == pytest.approx(found[True].input_tokens.most - found[False].input_tokens.most, abs=100)
    assert found[True].cost is not None
    assert found[False].cost is not None
    assert found[True].cost.most > found[False].cost.most


def test_an_estimate_counts_the_bytes_of_stored_pictures() -> None:
    small, large = a_case_with_pictures(PNG), a_case_with_pictures(PNG + bytes(1_000_000))

    def disk(case: object, *, images: bool) -> float:
        return estimate(
            a_seat(images=images),
            [case],
            debates=1,
            prices=PRICES,
            endpoints={},
            on=ON,  # type: ignore[list-item]
        ).disk_bytes.likely

    assert disk(large, images=True) - disk(small, images=True) >= 1_000_000
    assert disk(large, images=False) - disk(small, images=False) < 1000


def open_as_before_pictures(run: Run, case_schema: int = 2) -> None:
    """The opening of `d0` as a version wrote it that knew of no pictures."""
    pen = PartBuffer(lambda: bytes(16))
    panel = run.resolved.panel
    blind = panel.changed(seats=tuple(seat.changed(images=False) for seat in panel.seats))
    opened = RULES_OF_PROMPTS_1.open_debate(
        run.cases["d0"], blind, debate_id="d0", run_id="run", secret=bytes(32), parts=pen
    )
    part = json.loads(pen.text(opened.case)) | {"schema": case_schema}
    opened = opened.changed(case=pen.make(json.dumps(part)))
    now = encode(opened, recorded_at=1, parts=_named(opened, pen.take()))
    body = json.loads(now.body)
    for name in LATER_FIELDS:
        del body[name]
    for place in body["panel"]["seats"]:
        del place["images"]
    del body["panel"]["final"]["calibration"]
    older = now._replace(schema=1, body=json.dumps(body, sort_keys=True, separators=(",", ":")).encode())
    (answer,) = run.store.append([Append(debate_stream("d0"), (older,), 0, run.store.next_epoch())])
    assert isinstance(answer, Appended)


def _named(opened: DebateOpened, parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Those that the event refers to."""
    named = set(refs_in(json.loads(opened.model_dump_json())))
    return tuple(part for part in parts if part.ref.part in named)


async def test_a_debate_opened_before_pictures_existed_is_resumed_without_them() -> None:
    run = Run(
        KeptStore(),
        preset="independent",
        case=lambda case_id: a_case_with_pictures(PNG, OTHER_PNG, case_id=case_id),
        seats=[{"model": "simulated/a", "juror_id": "one", "images": True}],
    )
    open_as_before_pictures(run)

    assert () == compared_panel(run.store, "d0", run.resolved).differences
    assert completed((await run.execute()).values())
    calls = [decode(stored) for stored in run.store.read_stream(calls_stream("d0"))]
    assert [()] == [call.request[1].images for call in calls if isinstance(call, ExchangeRecorded)]


async def test_a_debate_is_not_resumed_when_other_seats_would_get_pictures() -> None:
    store = KeptStore()
    seat = {"model": "simulated/a", "juror_id": "one"}
    await Run(store, preset="independent", seats=[{**seat, "images": True}]).execute()
    now = a_resolved(preset="independent", seats=[seat])

    assert ["seats.0.images was True, is False"] == [str(one) for one in compared_panel(store, "d0", now).differences]


def test_a_case_written_by_an_earlier_version_is_the_same_case() -> None:
    run = Run(KeptStore(), preset="independent")
    open_as_before_pictures(run, case_schema=1)
    case = run.cases["d0"]
    (changed,) = case.scenarios
    changed = changed.changed(execution=changed.execution.changed(response="Another answer."))

    assert is_over("d0", case, run.resolved, run.store) is False
    with pytest.raises(RunRefused, match="its content has changed"):
        is_over("d0", case.changed(scenarios=(changed,)), run.resolved, run.store)
