"""The R+ search: learns a rule table for a signal set, a network space and a utility."""

from lcca.trainers.rplus.config import RplusConfig
from lcca.trainers.rplus.trainer import RplusTrainer

__all__ = ["RplusConfig", "RplusTrainer"]
