"""Pure folds over stored events, one module each."""
