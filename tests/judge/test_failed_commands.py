"""Whether a command of OpenAI's shell failed: its last command decides, as of a script."""

import io
import json

import pytest

from jury_cases import read_cases
from jury_events import ToolResult

FAILED = {"type": "exit", "exit_code": 1}
DONE = {"type": "exit", "exit_code": 0}
STOPPED = {"type": "timeout"}


@pytest.mark.parametrize(
    ("outcomes", "failed"),
    [([DONE], False), ([FAILED], True), ([FAILED, DONE], False), ([DONE, FAILED], True), ([DONE, STOPPED], True)],
)
def test_the_last_command_of_a_shell_decides(outcomes: list[dict[str, object]], failed: bool) -> None:
    items = [
        {"role": "user", "content": "Clean up."},
        {"type": "shell_call", "call_id": "c1", "action": {"commands": ["ls"]}},
        {
            "type": "shell_call_output",
            "call_id": "c1",
            "output": [{"stdout": "said", "stderr": "", "outcome": one} for one in outcomes],
        },
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
    ]
    row = {"case_id": "a", "messages": items}
    (case,) = read_cases(["-"], stdin=io.BytesIO(json.dumps(row).encode()))
    (result,) = [one for one in case.scenarios[0].execution.transcript.items if isinstance(one, ToolResult)]

    assert failed == result.error
