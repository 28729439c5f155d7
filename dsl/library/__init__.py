"""Pure functions that specs and checkers share."""
