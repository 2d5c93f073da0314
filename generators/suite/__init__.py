"""The complete suite: tests that reveal every fault of an implementation within a bound.

`machines` holds the theory (W and HSI, on any Moore machine), `abstraction` makes such a machine
of the declared tables, `documents` writes it down as data that needs no Python, `running` puts a
subject through it.
"""
