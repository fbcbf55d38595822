"""Random conversations, rendered into each shape, are read back as they were."""

import importlib
import json
from pathlib import Path

import pytest
from hypothesis import given, settings

from jury_cases import CaseFiles, CaseOptions
from producers.law import HERE, CaseLaw
from producers.renderers.conversation import Conversation, Shape
from producers.renderers.random_conversations import conversations

MODULES = [importlib.import_module(f"producers.renderers.{path.stem}") for path in sorted(HERE.glob("renderers/*.py"))]
SHAPES: list[Shape] = [shape for module in MODULES for shape in getattr(module, "SHAPES", ())]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda one: one.name)
def test_a_conversation_is_read_back_as_it_was(shape: Shape, tmp_path: Path) -> None:
    path = tmp_path / "file.json"

    @settings(max_examples=max(1, settings().max_examples // 4))
    @given(conversation=conversations(shape))
    def is_read_back(conversation: Conversation) -> None:
        document = shape.render(conversation)
        lines = document if shape.lines else [document]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

        (case,) = CaseFiles([path], CaseOptions(format=shape.format))
        happened = {"pieces": shape.pieces(conversation), "not_shown": [], "error": None}

        assert [] == CaseLaw(case, happened).broken()

    is_read_back()
