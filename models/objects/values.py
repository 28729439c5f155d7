"""The values that objects hold: whatever clients have written, or None."""

Scalar = int | str | bool | None
Value = Scalar | tuple[Scalar, ...]
