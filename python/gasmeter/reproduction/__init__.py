"""Figures of papers, run again: as given and on draws, judged, drawn, kept in a folder that can be judged again."""

__all__: list[str] = []
