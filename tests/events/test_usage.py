"""The bytes of a usage: the reason of a miss came after bodies were recorded without it."""

import json

from jury_events import Usage, canonical_json


def test_a_usage_without_a_miss_is_written_as_before_there_was_a_reason() -> None:
    written = json.loads(canonical_json(Usage(input_tokens=1)))

    assert "cache_miss" not in written
    assert written == Usage(input_tokens=1).model_dump(mode="json")


def test_a_miss_is_written_and_read() -> None:
    usage = Usage(input_tokens=1, cache_miss="tools_changed")

    assert "tools_changed" == json.loads(canonical_json(usage))["cache_miss"]
    assert usage == Usage.model_validate_json(canonical_json(usage))
