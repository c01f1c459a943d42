from harness.scenario import scenario


@scenario(exercises=("own-output", "terminal-once"), tasks=2)
def two_clients(script):
    """Two clients at once each get their own answer."""
    service = script.open_service()
    for name in ("alice", "bob"):
        task = script.task()
        script.actor(name, lambda task=task: service.submit(task).result())
    script.join()
    service.close()
