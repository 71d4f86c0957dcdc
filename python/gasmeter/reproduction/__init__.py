"""Figures of papers, run again: as given and on draws, judged, drawn, and kept in a folder that can be judged again."""

__all__: list[str] = []
