"""The model side: OpenAI-compatible client, providers, retries and the reading of replies."""
