"""What promptfoo calls: `get_assert` as an assertion, `call_api` as a provider."""

from jury_integrations.promptfoo import call_api, get_assert

__all__ = ["call_api", "get_assert"]
