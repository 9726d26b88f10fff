"""The frame of the API: who asks, what they may, how often, and how errors look.

A view of the API is a ``views.ApiView`` that says which scope each method takes. The settings
name modules of this package, which the framework loads while it loads itself: it imports nothing.
"""
