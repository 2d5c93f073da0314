"""Independent votes on the lifecycle: other people's checkers, on models made from the tables.

Our own exploration interprets the declaration through the oracle. Here the same tables become
plain guarded commands over finite variables, and from these a Promela model for SPIN, formulas
for z3 and a protocol for minicheck. All must count the same joint states, where they count, and
give the same verdict on every property; a false property must be refuted by each.
"""
