"""Where calls run (`pool`): threads, other processes, a cluster; one object in another process; memory that is free."""

EXECUTORS = ("local", "processes", "ray")
"""Where trials run: threads of this process, worker processes, a Ray cluster."""
