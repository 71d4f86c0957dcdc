"""Papers whose figures are run again: one module each, with their published values in published/."""

__all__: list[str] = []
