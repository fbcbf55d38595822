"""The limits of JSON that a model writes: its answers and the arguments of its tool calls."""

from jury_events.strict_json import JsonReader

MODEL_JSON = JsonReader(max_depth=16, max_number=64, integers=False, nul=False)
