"""Seeded faults: every single change of the machine and of the declared tables, each judged.

A check that misses a fault which somebody could really make is a hole; here are the faults.
`operators` says what a change is, `sites` finds where it applies, `loading` makes a machine of
it, `judging` looks for the first stream on which it shows, `tables` does the same to the
declaration, and `equivalent.json` names the changes that no stream can show, each with its reason.
"""
