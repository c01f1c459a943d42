"""The gate: the decision over receipts, as pure functions of their bytes, the policy and the time."""
