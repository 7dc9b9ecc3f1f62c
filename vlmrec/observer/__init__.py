"""The embedded baseline model: classical computer vision behind the API of a language model."""
