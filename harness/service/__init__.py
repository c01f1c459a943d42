"""The service under test: a bounded serial queue and a session pool, the reference for the contract."""
