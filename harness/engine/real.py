"""The real primitives, bound before `install` replaces them: the engine's own threads and identities stand on these."""

from _thread import allocate_lock, get_ident, get_native_id, start_new_thread

__all__ = ["allocate_lock", "get_ident", "get_native_id", "start_new_thread"]
