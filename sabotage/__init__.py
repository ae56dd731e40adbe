"""Small losses, planted in the codec in memory, and whether the judge of recorded exchanges notices them.

Each module names one kind of value that passes through a dialect; `plant` puts a loss into one of the functions of a
dialect, and `run` judges exchanges that the loss touches, before and after.
"""
