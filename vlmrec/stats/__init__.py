"""Statistics for runs compared over the same clips. Pure: seeds are passed in, nothing is drawn elsewhere.

The unit is the clip, always. Items of one clip share a video, a scene and often a mistake, so they are
summed within the clip before anything is tested.
"""
