"""Tuning: the best parameters of a congestion control for a network space, found in Optuna studies.

`config` and `space` say what is searched and need no extra; `study` runs the search and needs Optuna
(``pip install 'lcca[tune]'``), which `require_optuna` tells who has not got it.
"""

from importlib.util import find_spec

from lcca.inputs.extras import missing
from lcca.trainers.tune.config import TuneConfig

__all__ = ["TuneConfig", "require_optuna"]


def require_optuna(cma_es: bool = False) -> None:
    """Check that what tuning needs is installed.

    Args:
        cma_es: whether the search is by CMA-ES, which needs a package more.

    Raises:
        MissingPackage: it is not; the message says how to install it.
    """
    for package in ("optuna", *(["cmaes"] if cma_es else [])):
        if find_spec(package) is None:
            raise missing(package, "studies that tune" if package == "optuna" else "studies by CMA-ES", "tune")
