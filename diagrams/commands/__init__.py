"""Subcommands of `doneness` that draw."""
