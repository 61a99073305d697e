"""Figures of a run: in each module the data (`*_data`) apart from the drawing (`draw_*`)."""
