"""Before clustering: directions above noise, and texts as tables of numbers."""

from bhmc.preprocessing._directions import OptimalThresholdPCA, median_of_noise, optimal_factor
from bhmc.preprocessing._pipeline import text_pipeline
from bhmc.preprocessing._text_features import TextFeatures
from bhmc.preprocessing._words import WordTable, joined_texts, word_table

__all__ = [
    "OptimalThresholdPCA",
    "TextFeatures",
    "WordTable",
    "joined_texts",
    "median_of_noise",
    "optimal_factor",
    "text_pipeline",
    "word_table",
]
