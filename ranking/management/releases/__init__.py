"""The actions of ``manage.py release``, one per module."""
