"""The actions of ``manage.py fits``, one per module."""

from ranking.management.fits import listing, refitting, verifying

ACTIONS = (listing.LIST, refitting.ACTION, listing.SHOW, verifying.ACTION)
