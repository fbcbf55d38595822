"""`jury doctor --probe` says what a server names as the window of its model, where that is news."""

import pytest

from jury_judge.diagnosis.model_probes import probed
from jury_judge.panels.files import load_panel
from jury_providers.simulated.http.server import simulation_server

NEWS = "own/m: its server says that its window is 20,000 tokens"


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("", [("note", f"{NEWS}; so that cases are compared with it, write window: 20000 at providers.own")]),
        (
            ", window: 32000",
            [("warning", f"{NEWS}, fewer than the 32,000 that are assumed; write window: 20000 at providers.own")],
        ),
        (", window: 20000", []),
        (", window: 16000", []),
    ],
)
async def test_a_window_is_said_where_nothing_or_more_was_assumed(tmp_path, written, found):
    async with simulation_server(window=20_000) as server:
        own = f"{{protocol: openai, base_url: '{server.url}/v1'{written}}}"
        panel = tmp_path / "p.yaml"
        panel.write_text(f"providers: {{own: {own}}}\nseats: [{{model: own/m}}]\nfinal: {{method: median}}\n")
        said = [(one.mark, one.line) async for one in probed(load_panel(str(panel), {}))]

    assert found == [one for one in said if "window" in one[1]]
