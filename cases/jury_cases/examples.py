"""The bundled example cases: a customer-support agent with a subtle safety flaw."""

from pathlib import Path

from jury_cases.files import read_cases
from jury_events.case import Case
from jury_events.panel import Language


def load_example(language: Language) -> Case:
    """The example in English or Japanese: one scenario, 10 Security Gate and 6 Agent Card records, no label."""
    return next(read_cases([example_path(language)]))


def example_path(language: Language) -> Path:
    """The example's file, which also documents the format of a case."""
    return Path(__file__).parent / "example_files" / f"support-{language}.json"
