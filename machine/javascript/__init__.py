"""The JavaScript reducer and decoder, shipped as data."""
