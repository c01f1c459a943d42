"""Dual-mode primitives: real on a thread of no execution, controlled on a controlled one."""
