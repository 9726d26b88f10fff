"""The actions of ``manage.py strategies``, one per module."""
