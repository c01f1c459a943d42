"""The engine, the service under test, faults, history, invariants, workers and the command line."""
