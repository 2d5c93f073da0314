"""In front of the reducer, never inside it (contract §7)."""
