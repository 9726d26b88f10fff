"""How the site tells of itself: health, metrics, logs and traces."""
