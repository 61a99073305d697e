"""What a search asks of the trials that it learns from, and where they come from: networks of a space, or a fabric."""
