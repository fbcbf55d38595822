"""Requests and responses of the API; `/openapi.json` is made from them."""
