"""A jury of LLM jurors judges what an AI agent did; every debate is recorded, replayable and verifiable.

`Jury` is the main class; the other names are those of the two documents. Each is loaded at its first use, so that
`import jury_judge` is fast."""

from jury_events.lazy_names import lazy_names

__getattr__, __dir__ = lazy_names(__name__)
