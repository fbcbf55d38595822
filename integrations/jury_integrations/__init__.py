"""A jury inside the tools where people work: scorers, assertions, metrics and evaluators, one module a tool."""
