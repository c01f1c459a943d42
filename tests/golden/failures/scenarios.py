from harness.scenario import scenario


@scenario(exercises=("own-output",), tasks=2)
def two_clients(script):
    """Two clients at once each get their own answer."""
    service = script.open_service()
    for name in ("alice", "bob"):
        task = script.task()
        script.actor(name, lambda task=task: service.submit(task).result())
    script.join()


@scenario(exercises=("no-deadlock",), tasks=1)
def submit_and_close(script):
    """A client submits while another one closes."""
    service = script.open_service()
    task = script.task()
    script.actor("alice", lambda: service.submit(task))
    script.actor("bob", service.close)
    script.join()


@scenario(exercises=("terminal-once",), tasks=2)
def close_with_work_waiting(script):
    """What was accepted before close() ends."""
    service = script.open_service()
    first, second = service.submit(script.task()), service.submit(script.task())
    service.close()
    first.result()
    second.result()
