"""What is legal: declarations only.

Tables that a reviewer reads top to bottom. The diagrams, the checks and the documentation are
all made from them; nothing here runs an agent.
"""

if __name__ != "doneness.spec":  # imported from the repository root: a second module object
    raise ImportError(f"import this package as doneness.spec, not as {__name__}")
