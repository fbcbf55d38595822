"""Batches of calls at half the price: one interface over those of OpenAI, Anthropic and Gemini."""
