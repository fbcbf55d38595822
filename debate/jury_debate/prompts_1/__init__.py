"""Prompts version 1: judged text is shown exactly, behind a sign at the beginning of each line."""
