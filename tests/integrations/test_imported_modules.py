"""What a tool's module imports: its own tool and the application, and nothing heavy that it may not need."""

import subprocess
import sys

HEAVY = ("ray", "pyarrow", "numpy", "scipy", "psycopg", "alembic", "openai", "anthropic", "google.genai", "rich")
HOSTS = ("inspect_ai", "inspect_scout", "mlflow", "deepeval", "langfuse", "langsmith", "mcp")
PROBE = """
import importlib, sys
for module in ("hosted_jury", "promptfoo", "mcp.server"):
    importlib.import_module("jury_integrations." + module)
    print(module, *sorted(set(sys.argv[1:]) & set(sys.modules)))
"""


def test_a_module_of_a_tool_imports_its_own_tool_and_nothing_heavy() -> None:
    """In one process, one after the other: what an earlier one has imported, a later one would be said to import."""
    ended = subprocess.run(
        [sys.executable, "-c", PROBE, *HEAVY, *HOSTS], capture_output=True, text=True, timeout=300, check=True
    )

    assert ["hosted_jury", "promptfoo", "mcp.server mcp"] == ended.stdout.splitlines()
