"""What runs the flows of a trial: the whole fabric packet by packet, or something cheaper that comes near it."""
