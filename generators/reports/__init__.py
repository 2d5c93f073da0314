"""What was found, for those who were not there: SARIF for CI, one HTML page for a pull request."""
