"""The HTTP interface for programs: JSON in camelCase, described by `/openapi.json`."""
