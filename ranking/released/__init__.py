"""Releases that there are, and the files of one."""
