"""The agent loop and its example (contract §6)."""
