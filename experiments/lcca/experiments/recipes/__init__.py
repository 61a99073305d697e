"""What is done with policies and places, as Python functions: the commands of `lcca` print what these return."""
