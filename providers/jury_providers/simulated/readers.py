"""The reader that a script asks for."""

from jury_providers.simulated.reader import Reader, SimulatedReader
from jury_providers.simulated.script import Script
from jury_providers.simulated.scripted_reader import ScriptedReader


def reader_of(script: Script) -> Reader:
    """A new reader of the kind that `script.answers` names."""
    return ScriptedReader() if script.answers == "scripted" else SimulatedReader(script)
