"""The process that holds a runtime, and the line protocol it speaks."""
