"""Maps of worth: where in a space of networks one signal set is better than another, over training seeds."""
