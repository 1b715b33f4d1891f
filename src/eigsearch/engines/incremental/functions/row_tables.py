"""Names of torch functions that work row by row, and where their `dim` is given."""

from __future__ import annotations

POINTWISE = {
    "abs", "absolute", "acos", "acosh", "add", "addcdiv", "addcmul", "asin", "asinh", "atan",
    "atan2", "atanh", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "ceil", "celu",
    "clamp", "clamp_max", "clamp_min", "clip", "copysign", "cos", "cosh", "deg2rad", "digamma",
    "div", "divide", "elu", "erf", "erfc", "exp", "exp2", "expm1", "fix", "float_power",
    "floor", "floor_divide", "fmax", "fmin", "fmod", "frac", "ge", "gelu", "greater",
    "greater_equal", "gt", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "heaviside",
    "hypot", "isclose", "isfinite", "isinf", "isnan", "isneginf", "isposinf", "le",
    "leaky_relu", "lerp", "less", "less_equal", "lgamma", "log", "log10", "log1p", "log2",
    "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor", "logit",
    "logsigmoid", "lt", "masked_fill", "maximum", "minimum", "mish", "mul", "multiply",
    "nan_to_num", "neg", "negative", "not_equal", "polar", "positive", "pow", "prelu",
    "reciprocal", "relu", "relu6", "remainder", "round", "rsqrt", "rsub", "selu",
    "sgn", "sigmoid", "sign", "silu", "sin", "sinc", "sinh", "softplus", "softshrink",
    "softsign", "sqrt", "square", "sub", "subtract", "tan", "tanh", "tanhshrink", "threshold",
    "true_divide", "trunc", "where", "xlogy", "__abs__", "__add__", "__and__", "__div__",
    "__floordiv__", "__ge__", "__gt__", "__invert__", "__le__", "__lt__", "__mod__", "__mul__",
    "__neg__", "__or__", "__pos__", "__pow__", "__radd__", "__rand__", "__rdiv__",
    "__rfloordiv__", "__rmod__", "__rmul__", "__ror__", "__rpow__", "__rsub__", "__rtruediv__",
    "__rxor__", "__sub__", "__truediv__", "__xor__", "requires_grad_",
}  # fmt: skip


# The position of `dim` among the arguments, and its default; None means all dimensions.
ALONG_DIM: dict[str, tuple[int, int | None]] = {
    "all": (1, None), "amax": (1, None), "amin": (1, None), "any": (1, None), "argmax": (1, None),
    "argmin": (1, None), "argsort": (1, -1), "chunk": (2, 0), "cosine_similarity": (2, 1),
    "count_nonzero": (1, None), "cummax": (1, None), "cumprod": (1, None), "cumsum": (1, None),
    "flip": (1, None), "glu": (1, -1), "linalg_vector_norm": (2, None), "log_softmax": (1, None),
    "logsumexp": (1, None), "max": (1, None), "mean": (1, None), "median": (1, None),
    "min": (1, None), "nansum": (1, None), "narrow": (1, None), "norm": (2, None),
    "normalize": (2, 1), "pairwise_distance": (9, -1), "prod": (1, None),
    "repeat_interleave": (2, None), "select": (1, None), "softmax": (1, None),
    "softmin": (1, None), "sort": (1, -1), "split": (2, 0), "std": (1, None), "sum": (1, None),
    "tensor_split": (2, 0), "topk": (2, -1), "unbind": (1, 0), "unflatten": (1, None),
    "var": (1, None), "vector_norm": (2, None),
}  # fmt: skip


# Functions that may return a view, which an in-place operation would change as well.
VIEWS = {
    "view", "reshape", "unsqueeze", "squeeze", "expand", "expand_as", "broadcast_to", "transpose",
    "permute", "flatten", "unflatten", "__getitem__", "select", "narrow", "chunk", "split",
    "tensor_split", "unbind", "detach", "contiguous", "to", "type_as",
}  # fmt: skip


PROPERTIES: tuple[str, ...] = (
    "is_cuda",
    "is_leaf",
    "is_meta",
    "is_nested",
    "is_quantized",
    "grad",
    "grad_fn",
)
PROPERTIES += ("is_mkldnn", "is_mps", "is_xpu", "is_sparse_csr", "itemsize", "names", "_version")
