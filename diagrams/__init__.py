"""Rendering of the declared machines, and the rendered pictures."""

if __name__ != "doneness.diagrams":  # imported from the repository root: a second module object
    raise ImportError(f"import this package as doneness.diagrams, not as {__name__}")
