"""Views of the agent's event stream; each only reads events."""
