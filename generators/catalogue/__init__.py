"""A catalogue of wrong reducers, each after a failure that really happened.

Each is right but for one thing, and small enough to be read at a glance. The kit must find every
one of them, with a stream of a few events; `docs/catalogue.md` shows which.
"""

from doneness.generators.catalogue.listing import CATALOGUE

__all__ = ["CATALOGUE"]
