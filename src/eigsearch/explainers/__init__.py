"""Every other explainer, one file each, under one protocol."""
