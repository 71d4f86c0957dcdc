"""The papers whose figures are run again: a module each, and what of them is published in published/."""

__all__: list[str] = []
