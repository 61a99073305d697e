"""Other processes: started, watched and ended in one place (`child`); pools of them; one object in another process."""

EXECUTORS = ("local", "processes", "ray")
"""Where trials run: threads of this process, worker processes, a Ray cluster."""
