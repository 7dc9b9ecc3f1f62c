"""Video in, request parts out: probing, frame sampling, sub-clips and delivery."""
