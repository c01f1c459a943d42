"""What litmus programs start their threads with."""

import threading
import time

SOON = 0.002
"""A time-out that may win or lose, in seconds."""
LATE = 5.0
"""A time-out that never wins on real threads, in seconds."""


def together(*bodies):
    """Run the bodies side by side, each on a thread of its own, to their ends."""
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def beside(body, main):
    """Run `body` on a thread and `main` on this one; return what `main` does, once both have ended."""
    thread = threading.Thread(target=body)
    thread.start()
    answer = main()
    thread.join()
    return answer


def apart(once, twice):
    """Run both on threads of their own, the second twice, beside a third; return what each saw.

    The third can always go on instead: a search that takes two states for the same one then gives one of them up.
    """
    seen, again = [], []

    def first():
        seen.append(once())

    def second():
        again.append(twice())
        time.sleep(0)
        again.append(twice())

    together(first, second, lambda: time.sleep(0))
    return seen[0], tuple(again)
