"""Results of other tools as stores, and stores as other tools' files."""

from gasmeter.exchange.importing import import_results
from gasmeter.exchange.otava import to_otava
from gasmeter.exchange.writing import to_asv, to_google_benchmark

__all__ = ["import_results", "to_asv", "to_google_benchmark", "to_otava"]
