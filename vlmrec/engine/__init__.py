"""The reference rule engine: pure evaluation, data per version, HTTP client and server, migrations."""
