"""PRED (Li et al., ToN 2025): the questions of its paper; its marker is one of the fabric."""

from lcca.inputs.studies import Study

STUDY = Study(moved={"configs/pred": "configs"})
