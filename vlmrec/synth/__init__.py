"""Renders dashcam clips whose every answer is known.

A scenario is vehicle motion on a road (``scenarios``, pure: seeded numbers in, a Scene out); how it
looks is drawn apart from it (``look``); ``render`` draws it with Panda3D's software renderer, and
``answers`` and ``grounding`` write down what a person would label. Nothing of the last two ever
reaches the picture, the file's name or its metadata.
"""
