"""Studies made and changed in the console before they are locked."""
