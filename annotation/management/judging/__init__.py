"""The actions of ``manage.py judges``, one per module."""

from annotation.management.judging import listing, running, syncing

ACTIONS = (syncing.ACTION, listing.ACTION, *running.ACTIONS)
