"""A search for the header that should exist: enumeration, screening, confirmation, and the front of what pays."""
