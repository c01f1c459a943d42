"""Attributes and globals that are also reached as items of their namespace, or under a name that is made."""

# ruff: noqa: ARG001, FLY002, PLW0603 - a program is given its trace; the forms are the point

from litmus_threads import apart

STATEMENTS = True
state = None


class _Box:
    def __init__(self):
        self.value = 0
        self.first = 0


def an_attribute_stored_under_a_name_that_is_made(trace):
    box = _Box()
    name = "".join(["fir", "st"])
    return apart(lambda: setattr(box, name, 1), lambda: (box.first, box.first))


def an_attribute_stored_as_an_item(trace):
    box = _Box()

    def body():
        vars(box)["first"] = 1

    return apart(body, lambda: (box.first, box.first))


def an_attribute_read_as_an_item(trace):
    box = _Box()

    def body():
        box.value = 1

    return apart(body, lambda: (box.__dict__["value"], vars(box)["value"]))


def a_global_stored_as_an_item(trace):
    global state
    state = 0

    def body():
        globals()["state"] = 1

    return apart(body, lambda: (state, state))
