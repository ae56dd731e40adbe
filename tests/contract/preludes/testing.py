"""The testing guide brings its own answers: nothing is taken for granted."""
