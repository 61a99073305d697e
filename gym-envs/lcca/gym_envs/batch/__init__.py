"""Many agents in many episodes at once, stepped together by the engine."""
