"""The HTTP API: JSON in camelCase, described by `/openapi.json`."""
