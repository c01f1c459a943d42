"""Import-time instrumentation: accesses to shared state in named modules become known to the engine."""
