"""What a panel file's `providers` say of how calls are carried out, and what they add to requests."""

import json

import pytest

from jury_debate import panel_digest
from jury_judge import PanelFileError, load_panel
from jury_providers import connection_of
from support.canned_server import canned_server
from support.dialects import DIALECTS, a_request

SEATS = """
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
        path.write_text(SEATS + providers, encoding="utf-8")
        return load_panel(str(path), {})

    return load


def test_a_seat_has_what_its_provider_says_where_it_says_nothing(loaded) -> None:
    a, b, c = loaded("providers: {openai: {tier: flex, flex_fallback: on, cache: 30m, warm: off}}").panel.seats

    assert ("flex", "on", "30m", "off") == tuple(getattr(a.settings, name) for name in CARRIAGE)
    assert ("priority", "on", "off", "off") == tuple(getattr(b.settings, name) for name in CARRIAGE)
    assert (None,) * 4 == tuple(getattr(c.settings, name) for name in CARRIAGE)


def test_how_calls_are_carried_out_is_no_part_of_the_panel_identity(loaded) -> None:
    plain = panel_digest(loaded().panel)

    assert plain == panel_digest(loaded("providers: {openai: {tier: flex, cache: 30m}}").panel)


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


def test_a_provider_at_a_cloud_needs_no_address(loaded) -> None:
    endpoint = loaded("providers: {claude-aws: {protocol: anthropic, cloud: bedrock}}").endpoints["claude-aws"]

    assert ("bedrock", None) == (endpoint.cloud, endpoint.base_url)


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


def test_every_model_of_the_bundled_panels_gets_pictures() -> None:
    for name in ("documents", "current"):
        assert {True} == {place.images for place in load_panel(name, {}).panel.seats_and_judge}
