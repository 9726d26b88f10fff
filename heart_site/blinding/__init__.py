"""The audit of blinding: what raters could have received, and whether it tells who wrote what."""
