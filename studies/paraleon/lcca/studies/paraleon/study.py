"""PARALEON (Chen et al., ICNP 2025): its tuner, and the questions of its paper."""

from lcca.inputs.studies import Study

STUDY = Study(
    tuners={"paraleon": "tuner:KIND"},
    moved={"configs/paraleon": "configs"},
)
