"""Deep reinforcement: PPO, SAC and recurrent PPO on every competing flow of many networks.

Needs `pip install 'lcca[drl]'`.
Configurations and the trainer can be had without the extra; `DrlTrainer.step` needs it, and says so.
"""

from lcca.trainers.drl.config import AnyDrlConfig, DrlConfig, PpoConfig, RecurrentPpoConfig, SacConfig
from lcca.trainers.drl.trainer import DrlTrainer

__all__ = ["AnyDrlConfig", "DrlConfig", "DrlTrainer", "PpoConfig", "RecurrentPpoConfig", "SacConfig"]
