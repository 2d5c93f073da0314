"""Replay: what the reducer makes of a recorded stream, step by step, for people and machines."""
