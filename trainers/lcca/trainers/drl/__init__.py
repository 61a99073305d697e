"""Deep reinforcement learning: PPO on every competing flow of many networks.

Needs `pip install 'lcca[drl]'`. Configurations can be read without it; a training that begins says what is missing.
"""
