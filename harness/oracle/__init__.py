"""What each task's answer must be, computed apart from the executions."""
