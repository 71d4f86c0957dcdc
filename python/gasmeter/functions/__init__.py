"""The commands as functions: a command reads its options, calls one of these and prints the result."""

__all__: list[str] = []
