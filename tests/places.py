"""Paths of the things under test."""

from pathlib import Path

ROOT = next(f for f in Path(__file__).resolve().parents if (f / "pyproject.toml").is_file())
