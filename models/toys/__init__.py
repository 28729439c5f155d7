"""Small models to learn from and to test with."""
