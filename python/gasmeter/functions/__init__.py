"""What the commands do, as functions: a command reads its options, calls one of these and prints what it returns."""

__all__: list[str] = []
