"""vlmrec: record what video-language models answer about dashcam clips, and project every number from the record.

The library prints nothing and parses no argv; ``vlmrec.commands`` does both.
"""

__version__ = "0.1.0"
