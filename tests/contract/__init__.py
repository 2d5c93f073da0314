"""The contract as tests: `pytest --pyargs doneness.contract -m model`."""
