"""Reducers and decoders under test, in any language."""
