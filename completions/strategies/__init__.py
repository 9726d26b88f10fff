"""Which strategies of support a text shows: asked of a model, checked by people."""
