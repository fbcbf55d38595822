"""Imports what `jury run` and `jury serve` import while they run, for `chaos.warm_start`."""

import anthropic
import openai
import psycopg

import jury_actors.runtime
import jury_judge.panels.files
import jury_judge.runs.preflight
import jury_judge.runs.session
import jury_providers.batches.anthropic_batches
import jury_providers.batches.google_batches
import jury_providers.batches.openai_batches
import jury_providers.sdk.anthropic_messages
import jury_providers.sdk.openai_sdk
import jury_web.pages.pages
import jury_web.serving

__all__ = ["anthropic", "jury_actors", "jury_judge", "jury_providers", "jury_web", "openai", "psycopg"]
