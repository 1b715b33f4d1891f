"""A long fuzz: random graphs through random models, and every promise of an explanation checked."""
