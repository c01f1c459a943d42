"""Done-callbacks: where they run and what they may do."""
