"""What a tool's module imports: its own tool and the application, and nothing heavy that it may not need."""

import subprocess
import sys

import pytest

HEAVY = ("ray", "pyarrow", "numpy", "scipy", "psycopg", "alembic", "openai", "anthropic", "google.genai", "rich")
HOSTS = ("inspect_ai", "inspect_scout", "mlflow", "deepeval", "langfuse", "langsmith", "mcp")
PROBE = """
import importlib, sys
importlib.import_module(sys.argv[1])
print(*sorted(set(sys.argv[2:]) & set(sys.modules)))
"""


def imported(module: str, *wanted: str) -> list[str]:
    """Those of the wanted modules that a process has which imports `module` alone."""
    ended = subprocess.run(
        [sys.executable, "-c", PROBE, module, *wanted], capture_output=True, text=True, timeout=300, check=True
    )
    return ended.stdout.split()


@pytest.mark.parametrize("module", ["hosted_jury", "promptfoo"])
def test_a_module_of_a_tool_imports_no_other_tool_and_nothing_heavy(module: str) -> None:
    assert [] == imported(f"jury_integrations.{module}", *HEAVY, *HOSTS)


def test_the_server_of_the_protocol_imports_no_other_tool_and_nothing_heavy() -> None:
    found = imported("jury_integrations.mcp.server", *HEAVY, *HOSTS)

    assert ["mcp"] == found
