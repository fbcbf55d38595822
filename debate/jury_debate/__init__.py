"""The rules of a debate, pure: no clock, no randomness, no database, no model. Old rules versions stay for ever."""
