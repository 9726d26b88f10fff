"""The actions of ``manage.py contexts``, one per module."""
