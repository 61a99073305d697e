"""Figures of a run: in each module the data (`*_data`) apart from the drawing (`draw_*`)."""

FORMATS = ("pdf", "png", "svg")
NARROW = 5.0  # inches: less has legends below rather than beside
