"""Tools of an invented hospital; each file shows one way of working with the platform."""
