"""The HTML viewer beside the video."""
