"""The checks themselves; `doneness.contract` only calls them."""
