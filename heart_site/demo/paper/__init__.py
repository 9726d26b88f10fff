"""The HEART study at its full size: people and models simulated, every figure beside the planted.

Simulation shows that the platform finds what was planted. It says nothing about real models.
"""
