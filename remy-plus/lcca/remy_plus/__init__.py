"""The packet engine, its policies and their files; the C++ part is `_core`."""
