"""What tries to break it: exploration, strategies, complete suites, subjects, shrinking."""

if __name__ != "doneness.generators":  # imported from the repository root: a second module object
    raise ImportError(f"import this package as doneness.generators, not as {__name__}")
