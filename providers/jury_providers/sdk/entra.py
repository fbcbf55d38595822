"""Tokens of Microsoft Entra ID, which Azure and Foundry take where no key is set. Needs the extra `azure`."""

import logging

logging.getLogger("azure").addHandler(logging.NullHandler())  # a failed login is the reply's error


class EntraTokens:
    """What `DefaultAzureCredential` finds: the environment, a workload or managed identity, a command-line login.

    Calling it returns a token, which is kept until shortly before it expires.

    Args:
        scope: what the token is for.
    """

    def __init__(self, scope: str) -> None:
        from azure.identity.aio import DefaultAzureCredential, get_bearer_token_provider  # noqa: PLC0415  (an extra)

        self._credential = DefaultAzureCredential()
        self._token = get_bearer_token_provider(self._credential, scope)

    async def __call__(self) -> str:
        return await self._token()

    async def close(self) -> None:
        """Release its connections."""
        await self._credential.close()
