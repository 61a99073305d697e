"""One number to a wanted accuracy, with plain trials or importance sampling."""
