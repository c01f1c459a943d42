"""Work that must finish, and a process that is killed."""

from harness.scenario import KilledJournal, Script, scenario

__all__ = ["killed_and_resumed"]

ORDERS = {"orders": {"journal": True}}
COUNT = 3


@scenario(exercises=("terminal-once", "own-output"), requires=("journal", "classes"), tasks=COUNT)
def killed_and_resumed(script: Script, count: int = COUNT) -> None:
    """What was accepted and not finished when the process was killed runs in the next one, and nothing runs twice.

    Claim: at every moment the journal on the disk knows each accepted task; one whose result somebody has seen is
        finished there.
    Interleaving: the process is killed while three tasks run, one after the other, and their client looks at the
        results; the next process finds what was on the disk then, half a line at the end of it perhaps, and all three
        are submitted again.
    Expected: the pending ones run, with their own outputs; the finished ones are refused.
    """
    journal = script.journal()
    first = script.open_service(capacity=count, classes=ORDERS, journal=journal)
    orders = [script.task() for _ in range(count)]
    tasks = [
        first.submit(order, request_class="orders", payload_ref=f"order-{number}")
        for number, order in enumerate(orders)
    ]
    seen: list[int] = []
    found: list[tuple[list[int], KilledJournal]] = []

    def client() -> None:
        for number, task in enumerate(tasks):
            if task.result().kind == "SUCCEEDED":
                seen.append(number)

    script.actor("client", client)
    script.actor("power-cut", lambda: found.append((list(seen), journal.after_a_kill())))
    script.join()
    first.close()
    finished, left = found[0]
    pending = left.references()
    says = "a task whose result was seen is finished on the disk"
    script.expect(not any(f"order-{number}" in pending for number in finished), "terminal-once", says)
    second = script.open_service(capacity=count, classes=ORDERS, journal=left)
    for number, order in enumerate(orders):
        reference = f"order-{number}"
        again = second.submit(script.again(order), request_class="orders", payload_ref=reference)
        says = "what was accepted and is not finished runs again, and what is finished does not"
        script.expect(again.accepted == (reference in pending), "terminal-once", says)
        again.result()
    second.close()
