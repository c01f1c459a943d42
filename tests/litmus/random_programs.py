"""Small programs put together at random: two or three threads that share a little of everything."""

import ast
import random
import types

from litmus_programs import Program

from harness.engine.instrument.runtime import names
from harness.engine.instrument.transform import mutable_names, transform

_STEPS = (
    "seen.append(box.left)",
    "seen.append(box.right)",
    "box.left = {n}",
    "box.right = {n}",
    "box.left += 1",
    "with lock: box.left += 1",
    "with lock: seen.append((box.left, box.right))",
    "if lock.acquire(blocking=False): box.left = {n}; lock.release()\nelse: seen.append('held')",
    "if lock.acquire(timeout=1): box.right = {n}; lock.release()\nelse: seen.append('late')",
    "seen.append(lock.locked())",
    "event.set()",
    "event.wait()",
    "seen.append(event.wait(1))",
    "seen.append(event.is_set())",
    "with condition: seen.append(condition.wait(1))",
    "with condition: condition.notify()",
    "with condition: box.right = {n}; condition.notify_all()",
    "if room.acquire(timeout=1): seen.append(box.right); room.release()",
    "line.put({n})",
    "try: seen.append(line.get_nowait())\nexcept queue.Empty: seen.append('empty')",
    "try: seen.append(line.get(timeout=1))\nexcept queue.Empty: seen.append('empty')",
    "simple.put({n})",
    "seen.append(simple.qsize())",
    "items.append({n})",
    "seen.append(tuple(items))",
    "if box.left: box.right = {n}\nelse: seen.append('zero')",
    "time.sleep(1)",
    "seen.append(threading.active_count())",
    "child = threading.Thread(target=items.append, args=({n},))\nchild.start()\nbox.left = {n}\nchild.join()",
)
_PROGRAM = """
import queue, threading, time
from types import SimpleNamespace

def run(trace):
    box, items, everything = SimpleNamespace(left=0, right=0), [], []
    lock, room, event, condition = threading.Lock(), threading.Semaphore(1), threading.Event(), threading.Condition()
    line, simple = queue.Queue(), queue.SimpleQueue()
{bodies}
    threads = [threading.Thread(target=body) for body in ({names})]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return everything, box.left, box.right, items, line.qsize()
"""
_BODY = """
    def body_{thread}():
        seen = ["{thread}"]
        everything.append(seen)
{steps}
"""


def source(seed, most):
    """The source of one program: of at most `most` steps in each of two threads, one less in each of three."""
    choice = random.Random(seed)
    threads = choice.choice((2, 2, 3))
    bodies, number = [], 0
    for thread in range(threads):
        lines = []
        for _ in range(choice.randint(1, most + 2 - threads)):
            number += 1
            lines += choice.choice(_STEPS).format(n=number).splitlines()
        bodies.append(_BODY.format(thread=thread, steps="\n".join(f"        {line}" for line in lines)))
    names_of_bodies = "".join(f"body_{thread}, " for thread in range(threads))
    return _PROGRAM.format(bodies="".join(bodies), names=names_of_bodies)


def program(seed, most=4):
    """One program, instrumented."""
    tree = ast.parse(source(seed, most))
    module = types.ModuleType(f"random_{seed}")
    module.__dict__.update(names())
    exec(compile(transform(tree, mutable_names(tree)), module.__name__, "exec"), module.__dict__)
    return Program("random", str(seed), module.run, statements=True, can_hang=True)
