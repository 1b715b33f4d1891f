"""Baselines that every explainer should beat."""
