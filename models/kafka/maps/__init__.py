"""What a state of one model is in another: for comparisons, `statewalk compare --map`."""
