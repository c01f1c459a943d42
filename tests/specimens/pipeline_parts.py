"""An honest pipeline of three stages: a specimen overrides exactly the step that is wrong.

Loaded by path, as `parts.py` is.
"""

import threading
from collections import deque
from pathlib import Path
from runpy import run_path

parts = run_path(str(Path(__file__).parent / "parts.py"))
ClosedError = parts["ClosedError"]
FullError = parts["FullError"]
CancellingQueue = parts["CancellingQueue"]
settle_unless_cancelled = parts["settle_unless_cancelled"]
BUFFERS = 3


class StagedQueue(CancellingQueue):
    """One thread prepares and one runs, over three buffers; a task has one from the first stage to its outcome."""

    capabilities = frozenset({"pipeline", "running_cancel"})

    def prepare(self):
        """Make the buffers, and what goes from stage to stage."""
        self.free = [{} for _ in range(BUFFERS)]
        self.prepared = deque()
        self.first_ended = False

    def open_sessions(self, open_session):
        """Open the session, and start the first stage."""
        sessions = super().open_sessions(open_session)
        self.first = threading.Thread(target=self.serve_first)
        self.first.start()
        return sessions

    def submit(self, inputs):
        """Accept one task, or raise ClosedError or FullError. Two stages wait: both must look."""
        future = super().submit(inputs)
        with self.changed:
            self.changed.notify_all()
        return future

    def serve_first(self):
        """Prepare one task after the other."""
        while (task := self.take_waiting()) is not None:
            inputs, future, buffer = task
            self.fill(buffer, inputs)
            with self.changed:
                self.prepared.append((buffer, future))
                self.changed.notify_all()
        with self.changed:
            self.first_ended = True
            self.changed.notify_all()

    def take_waiting(self):
        """Wait for a task and a buffer; None when there will be none."""
        with self.changed:
            while not (self.waiting and self.has_buffer()):
                if self.closing and not self.waiting:
                    return None
                self.changed.wait()
            return (*self.waiting.popleft(), self.take_buffer())

    def has_buffer(self):
        """Whether the first stage may go on, under the lock."""
        return bool(self.free)

    def take_buffer(self):
        """A buffer that nobody has, under the lock."""
        return self.free.pop()

    def fill(self, buffer, inputs):
        """Write the task into its buffer."""
        for name, array in inputs.items():
            if name in buffer and buffer[name].shape == array.shape and buffer[name].dtype == array.dtype:
                buffer[name][...] = array
            else:
                buffer[name] = array.copy()
        for name in set(buffer) - set(inputs):
            del buffer[name]

    def serve(self, session):
        """Run one prepared task after the other."""
        while (task := self.take_prepared()) is not None:
            buffer, future = task
            self.run(session, buffer, future)
            self.give_back(buffer)
        self.release(session)

    def take_prepared(self):
        """Wait for a prepared task; None when there will be none."""
        with self.changed:
            while not self.prepared:
                if self.first_ended:
                    return None
                self.changed.wait()
            return self.prepared.popleft()

    def give_back(self, buffer):
        """The buffer is free again."""
        with self.changed:
            self.free.append(buffer)
            self.changed.notify_all()

    def close(self):
        """Refuse new tasks, run those accepted, and return when both stages have ended."""
        super().close()
        self.first.join()
