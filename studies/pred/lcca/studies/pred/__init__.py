"""PRED: the questions of its paper; its marker is one of the fabric."""
