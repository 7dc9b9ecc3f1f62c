"""Tables and plots of what projections say."""
