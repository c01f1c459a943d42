"""A device that several processes use at once, made of two files in the working directory, over any real runtime.

It needs its lock: a run waits until no other process holds it. It has a mode that scales what everybody reads. And it
can be reset: what is in flight then is lost, whoever's it is.
"""

import fcntl
import mmap
import os

from adapters.base import Adapter, RunError, Session
from harness.models.registry import load_adapter

MODE, RESETS = 0, 1


class Device:
    """This process's access to the device: opened at its first use, in whichever process that is."""

    depth = 0
    _lock = _memory = None

    def __enter__(self):
        """Take the device for this process, unless it has it."""
        if self._lock is None:
            self._lock = os.open("device.lock", os.O_CREAT | os.O_RDWR)
        if self.depth == 0:
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.depth += 1

    def __exit__(self, *_):
        """Give it back."""
        self.depth -= 1
        if self.depth == 0:
            fcntl.flock(self._lock, fcntl.LOCK_UN)

    @property
    def memory(self):
        """The registers, shared by every process."""
        if self._memory is None:
            file = os.open("device.memory", os.O_CREAT | os.O_RDWR)
            os.ftruncate(file, 2)
            self._memory = mmap.mmap(file, 2)
            os.close(file)
        return self._memory

    @property
    def scale(self):
        """What every output is multiplied by."""
        return 2.0 if self.memory[MODE] else 1.0

    def reset(self):
        """Lose what is in flight."""
        self.memory[RESETS] = (self.memory[RESETS] + 1) % 256


DEVICE = Device()


class DeviceCall:
    """One run on the device."""

    def __init__(self, inner):
        self._inner = inner
        self.bind = inner.bind

    def invoke(self):
        with DEVICE:
            self._inner.invoke()
            self._resets = DEVICE.memory[RESETS]

    def fetch(self):
        outputs = self._inner.fetch()
        if self._resets != DEVICE.memory[RESETS]:
            message = "the device was reset under the request"
            raise RunError(message)
        return {name: array * array.dtype.type(DEVICE.scale) for name, array in outputs.items()}


class DeviceSession(Session):
    """A session of the runtime underneath, whose runs go through the device."""

    def __init__(self, inner):
        self._inner = inner
        self.contract, self.identity, self.delegate = inner.contract, inner.identity, inner.delegate
        self.sharing, self.interrupt_grain = inner.sharing, inner.interrupt_grain
        self.counters, self.close = inner.counters, inner.close

    def call(self, inputs):
        return DeviceCall(self._inner.call(inputs))

    def counters(self):
        """Replaced by the one underneath."""

    def close(self):
        """Replaced by the one underneath."""


class DeviceAdapter(Adapter):
    """Wraps the adapter of a runtime."""

    name = suffixes = default_delegate = cpu_delegate = ""

    def __init__(self, runtime):
        self._inner = inner = load_adapter(runtime)
        self.name, self.suffixes = f"{inner.name}-on-the-device", inner.suffixes
        self.default_delegate, self.cpu_delegate = inner.default_delegate, inner.cpu_delegate

    def probe(self):
        return self._inner.probe()

    def open(self, model, delegate, options):
        return DeviceSession(self._inner.open(model, delegate, options))


class OnNumpy(DeviceAdapter):
    def __init__(self):
        super().__init__("numpy")


class OnLitert(DeviceAdapter):
    def __init__(self):
        super().__init__("litert")


class OnOnnxruntime(DeviceAdapter):
    def __init__(self):
        super().__init__("onnxruntime")


class OnTflite(DeviceAdapter):
    def __init__(self):
        super().__init__("tflite")
