"""Code that several explainers share."""
