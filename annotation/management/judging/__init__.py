"""The actions of ``manage.py judges``, one per module."""

from annotation.management.judging import checking, listing, running, syncing

ACTIONS = (syncing.ACTION, listing.ACTION, checking.ACTION, *running.ACTIONS)
