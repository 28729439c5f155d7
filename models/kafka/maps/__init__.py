"""Maps from states of one model to another's: for comparisons, `statewalk compare --map`."""
