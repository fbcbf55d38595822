"""The live figures on the page of a run."""

from contextlib import closing
from dataclasses import replace

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from jury_actors import ModelLoad, RuntimeLoad, SeatLoad
from jury_judge import LiveRun, LiveRuns, OpenWave, Service
from jury_store import EventStore, open_store
from jury_web import page_routes
from support.debate_builder import DebateBuilder
from support.live_figures import a_run, executed, figures
from support.pages import Page, Site, keep, stored

LOAD = RuntimeLoad(
    2,
    (
        SeatLoad("gpt", 3, 1, (ModelLoad("google/m", 1, 0), ModelLoad("openai/m", 2, 1))),
        SeatLoad("claude", 0, 0, None),
        SeatLoad(None, 0, 0, ()),
    ),
    5,
)


class _Kept(LiveRuns):
    """Figures that were read before."""

    def __init__(self, store: EventStore, live: LiveRun) -> None:
        super().__init__(store, None)
        self._live = live

    def read(self, run_id: str) -> LiveRun:
        assert run_id == self._live.row.run_id
        return self._live


def page(url: str, load: RuntimeLoad | None, language: str = "en", batches: OpenWave | None = None) -> Page:
    """20 s after the first event, while a process executes the run."""
    with closing(open_store(url, write=True)) as store:
        a_run(store)
        with executed(url, load):
            live = replace(figures(store, 20, url), batches=batches)
        service = Service(store)
        service.live_runs = _Kept(store, live)
        return Page(
            TestClient(Starlette(routes=page_routes(service))).get("/runs/r", headers={"Accept-Language": language})
        )


def test_a_running_run_shows_phases_rate_time_left_cost_and_the_slowest_provider(sqlite_url: str) -> None:
    shown = page(sqlite_url, LOAD)

    assert [
        ["evaluating", "1"],
        ["discussing", "1"],
        ["judging", "0"],
        ["Time left", "about 1 min 0 s"],
        ["Cost", "$0.0000 + unknown in 1 debates"],
        ["Model calls", "3"],
    ] == shown.table("[aria-labelledby=h-live]")
    assert "In the last 20.0 s" == shown.one("#h-recent")
    assert "Debates: 3.0/min · Model calls: 9.0/min (2 after a failed attempt) · Abstentions: 2" == shown.one(
        "#h-recent + p"
    )
    assert [["google slowest", "1", "0", "2.0 s", "2.0 s"], ["openai", "2", "1", "1.5 s", "3.0 s"]] == shown.table(
        "[aria-labelledby=h-recent]"
    )


WAVE = OpenWave(wave=2, batches=2, calls={"waiting": 500, "running": 12}, since="2026-11-25T22:00:00.000000Z", most=1.5)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        (
            "en",
            [
                "In batches",
                "wave 2, calls: 500 waiting, 12 running; since 2026-11-25T22:00:00.000000Z, $1.5000 at most",
            ],
        ),
        (
            "ja",
            ["バッチ処理中", "第2波：呼び出し 待機中500件, 処理中12件（2026-11-25T22:00:00.000000Zから）、最大$1.5000"],
        ),
    ],
)
def test_what_is_in_batches_is_shown_by_the_stage_of_its_batch(sqlite_url: str, language: str, said: list[str]) -> None:
    shown = page(sqlite_url, LOAD, language, WAVE)

    assert said in shown.table("[aria-labelledby=h-live]")


def test_durations_and_rates_have_japanese_units(sqlite_url: str) -> None:
    shown = page(sqlite_url, LOAD, "ja")

    assert "直近20.0秒" == shown.one("#h-recent")
    assert "議論: 毎分3.0 · モデル呼び出し: 毎分9.0 (失敗後の再試行2回) · 棄権2件" == shown.one("#h-recent + p")
    assert ["残り時間", "約1分0秒"] in shown.table("[aria-labelledby=h-live]")
    assert "3.0秒" == shown.table("[aria-labelledby=h-recent]")[1][-1]


def test_calls_in_flight_are_shown_by_seat_and_provider(sqlite_url: str) -> None:
    shown = page(sqlite_url, LOAD)

    assert "Calls in flight: 3" == shown.one("#h-memory")
    assert [
        ["gpt", "google 1, openai 2", "1", "3", "1"],
        ["claude", "does not answer now", "0", "0"],
        ["Final judge", "0", "0", "0", "0"],
    ] == shown.table("[aria-labelledby=h-memory]")
    assert "Appends to store: 5" == shown.one("[aria-labelledby=h-memory] .sub")


def test_figures_that_another_machine_has_are_said_to_be_there(sqlite_url: str) -> None:
    shown = page(sqlite_url, None)

    assert "can be seen on its machine" in shown.one("[aria-labelledby=h-memory] .absent")


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_a_run_that_nobody_executes_says_so(lang: str) -> None:
    shown = Site(stored(DebateBuilder())).get("/runs/run-1", accept_language=lang)
    said = {"en": "No process executes the run", "ja": "実行を進めているプロセスはありません"}[lang]

    assert said in shown.one("#h-live + p")
    assert [] == shown.all("#h-memory")


def test_a_run_that_is_over_has_an_empty_region_for_the_script_to_put_there() -> None:
    store = stored()
    keep(store, DebateBuilder().phase_1().round_1().judged().opened_as(debate_id="r~one", run_id="r", case_id="one"))
    shown = Site(store).get("/runs/r")

    assert [""] == shown.all("[data-region=live][hidden]")
