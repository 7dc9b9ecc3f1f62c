"""Rendered clips whose every answer is known."""
