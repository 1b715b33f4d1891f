"""Names of torch operations, by what a decomposition of a forward pass may do with them."""

QUERIES = {
    "__get__", "__len__", "dim", "element_size", "get_device", "is_floating_point", "ndimension",
    "new_empty", "new_full", "new_ones", "new_zeros", "numel", "ones_like", "size", "zeros_like",
}  # fmt: skip

SHAPES = {
    "__getitem__", "contiguous", "expand", "expand_as", "flatten", "permute", "reshape", "select",
    "squeeze", "t", "transpose", "unflatten", "unsqueeze", "view", "neg", "clone", "detach",
}  # fmt: skip

LINEAR = {
    "__matmul__", "__mul__", "__rmatmul__", "__rmul__", "bmm", "double", "float", "gather",
    "index_select", "matmul", "mean", "mm", "mul", "mul_", "repeat", "sum", "to",
}  # fmt: skip

DIVISIONS = {"div", "div_", "true_divide", "__truediv__"}
ADDITIONS = {"add", "add_", "__add__", "__iadd__", "__radd__"}
SUBTRACTIONS = {"sub", "sub_", "__sub__", "__isub__"}
REVERSED_SUBTRACTIONS = {"rsub", "__rsub__"}
RELUS = {"relu", "relu_"}
JOINS = {"cat", "concat", "stack"}
SCATTER_ADDS = {"scatter_add", "scatter_add_"}
INDEX_ADDS = {"index_add", "index_add_"}
SCATTER_REDUCES = {"scatter_reduce", "scatter_reduce_"}
CLOSING = {"softmax", "log_softmax", "sigmoid", "logsigmoid"}  # may end a model; then passed over


class NoRule(Exception):
    """An operation that cannot be decomposed; the message is its name."""
