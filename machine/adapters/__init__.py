"""From what an SDK or wire format says to envelopes; one file a format."""
