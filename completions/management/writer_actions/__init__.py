"""The actions of ``manage.py writers``, one per module."""
