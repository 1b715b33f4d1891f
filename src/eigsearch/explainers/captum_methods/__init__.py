"""The methods that captum computes, and the face of a model that it sees."""

from eigsearch.explainers.captum_methods.methods import DeepLIFT, GuidedBackprop, InputXGradient

__all__ = ["DeepLIFT", "GuidedBackprop", "InputXGradient"]
