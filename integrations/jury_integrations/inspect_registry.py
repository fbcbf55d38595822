"""What Inspect and Inspect Scout find by the entry point `jury_integrations` of the group `inspect_ai`."""

from importlib.util import find_spec

from jury_integrations.inspect_metrics import agreement, clustered_stderr
from jury_integrations.inspect_scorer import jury

if find_spec("inspect_scout") is not None:
    import jury_integrations.scout_scanner  # noqa: F401  (importing it registers the scanner)

__all__ = ["agreement", "clustered_stderr", "jury"]
