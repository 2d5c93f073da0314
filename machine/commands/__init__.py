"""Subcommands of `doneness` that need only the machine."""
