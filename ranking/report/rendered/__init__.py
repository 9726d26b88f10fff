"""Tables of findings as pages show them: names, words, pictures and charts."""
