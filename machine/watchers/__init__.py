"""Whoever watches a run: small modules that only read events (contract §6).

None of them changes the run, and none of them imports an adapter: what they show as the status
is handed to them by whoever composes them. Each has `feed(event)`, takes any mapping without
raising, and can be put behind a live loop or behind the replay of a log alike.
"""
