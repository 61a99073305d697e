"""Collective operations of training jobs: who sends what to whom, and what each message waits for."""
