"""What a tool gets with a score: a secret of this user that a text of the debate quotes is in none of it."""

import json

import pytest

from jury_judge.scores.debate_scores import JudgedTrace, judged_trace
from jury_store import MemoryEventStore
from support.writing import Writing

SECRET = "sk-acme-0123456789-abcdef"


def test_an_explanation_that_quotes_a_key_has_a_mask_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    store = MemoryEventStore()
    writing = Writing(store)
    script = writing.script
    opened = script.opened(metadata={"trace_id": "0af7651916cd43dd8448eb211c80319c"})
    evaluated = script.evaluated(f"The agent printed {SECRET}.")
    writing.write(opened, evaluated, script.checked(), script.judged(), script.completed())
    (history,) = store.histories(["d"])
    trace = judged_trace(history)
    assert isinstance(trace, JudgedTrace)
    said = json.dumps(trace.scores)

    assert SECRET not in said
    assert "The agent printed [key]." in said
