"""Subcommands of `doneness` that need the generators."""
