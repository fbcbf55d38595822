"""In the place of MLflow, which tests of the tier `full` use itself."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch


class Feedback(list[dict[str, Any]]):
    """What MLflow was given, in the order in which it came; `refuses` is what it says in place of taking it."""

    refuses: str | None = None

    def log(self, **said: Any) -> Any:
        if self.refuses is not None:
            raise RuntimeError(self.refuses)
        self.append(said)
        return SimpleNamespace(assessment_id=f"a-{len(self)}")


@contextmanager
def mlflow_double(uri: str) -> Iterator[Feedback]:
    """`import mlflow` gives it while the context lasts; its tracking server is at `uri`."""
    found = Feedback()
    parts = {name: ModuleType(name) for name in ("mlflow", "mlflow.entities", "mlflow.exceptions")}
    parts["mlflow"].__dict__.update(
        log_feedback=found.log,
        override_feedback=found.log,
        get_tracking_uri=lambda: uri,
        __spec__=SimpleNamespace(),
    )
    parts["mlflow.entities"].__dict__.update(
        AssessmentSource=lambda kind, name: (kind, name),
        AssessmentSourceType=SimpleNamespace(LLM_JUDGE="LLM_JUDGE", HUMAN="HUMAN"),
    )
    parts["mlflow.exceptions"].__dict__.update(MlflowException=RuntimeError)
    with patch.dict(sys.modules, parts):
        yield found
