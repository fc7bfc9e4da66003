# %% wrong="cross-entropy" why="no shift by the maximum: exp overflows"
def cross_entropy_graph() -> GraphDef:
    """The cross-entropy of a softmax from PRIMITIVES: placeholders `logits`, `labels` [None, None], node `loss` [None]."""
    with tf.Graph().as_default() as graph:
        logits = tf1.placeholder(tf.float32, [None, None], name="logits")
        labels = tf1.placeholder(tf.float32, [None, None], name="labels")
        log_sum = tf.math.log(tf.reduce_sum(tf.exp(logits), axis=1, keepdims=True))
        tf.negative(tf.reduce_sum(labels * (logits - log_sum), axis=1), name="loss")
    return graph.as_graph_def()


# %% wrong="cross-entropy" why="one maximum for the whole batch"
def cross_entropy_graph() -> GraphDef:
    """The cross-entropy of a softmax from PRIMITIVES: placeholders `logits`, `labels` [None, None], node `loss` [None]."""
    with tf.Graph().as_default() as graph:
        logits = tf1.placeholder(tf.float32, [None, None], name="logits")
        labels = tf1.placeholder(tf.float32, [None, None], name="labels")
        shifted = logits - tf.reduce_max(logits, axis=[0, 1], keepdims=True)
        log_sum = tf.math.log(tf.reduce_sum(tf.exp(shifted), axis=1, keepdims=True))
        tf.negative(tf.reduce_sum(labels * (shifted - log_sum), axis=1), name="loss")
    return graph.as_graph_def()


# %% wrong="cross-entropy" why="logarithm of a softmax that is rounded to zero"
def cross_entropy_graph() -> GraphDef:
    """The cross-entropy of a softmax from PRIMITIVES: placeholders `logits`, `labels` [None, None], node `loss` [None]."""
    with tf.Graph().as_default() as graph:
        logits = tf1.placeholder(tf.float32, [None, None], name="logits")
        labels = tf1.placeholder(tf.float32, [None, None], name="labels")
        exp = tf.exp(logits - tf.reduce_max(logits, axis=1, keepdims=True))
        softmax = exp / tf.reduce_sum(exp, axis=1, keepdims=True)
        tf.negative(tf.reduce_sum(labels * tf.math.log(softmax), axis=1), name="loss")
    return graph.as_graph_def()


# %% wrong="cross-entropy" why="keeps the logarithm finite with a small constant"
def cross_entropy_graph() -> GraphDef:
    """The cross-entropy of a softmax from PRIMITIVES: placeholders `logits`, `labels` [None, None], node `loss` [None]."""
    with tf.Graph().as_default() as graph:
        logits = tf1.placeholder(tf.float32, [None, None], name="logits")
        labels = tf1.placeholder(tf.float32, [None, None], name="labels")
        exp = tf.exp(logits - tf.reduce_max(logits, axis=1, keepdims=True))
        softmax = exp / tf.reduce_sum(exp, axis=1, keepdims=True)
        tf.negative(tf.reduce_sum(labels * tf.math.log(softmax + 1e-12), axis=1), name="loss")
    return graph.as_graph_def()


# %% wrong="cross-entropy" why="one number for the batch: the mean over the rows"
def cross_entropy_graph() -> GraphDef:
    """The cross-entropy of a softmax from PRIMITIVES: placeholders `logits`, `labels` [None, None], node `loss` [None]."""
    with tf.Graph().as_default() as graph:
        logits = tf1.placeholder(tf.float32, [None, None], name="logits")
        labels = tf1.placeholder(tf.float32, [None, None], name="labels")
        shifted = logits - tf.reduce_max(logits, axis=1, keepdims=True)
        log_sum = tf.math.log(tf.reduce_sum(tf.exp(shifted), axis=1, keepdims=True))
        losses = -tf.reduce_sum(labels * (shifted - log_sum), axis=1)
        rows = tf.reduce_sum(tf.reduce_sum(labels, axis=1))
        tf.divide(tf.reduce_sum(losses), rows, name="loss")
    return graph.as_graph_def()


# %% wrong="cross-entropy" why="takes labels for one-hot"
def cross_entropy_graph() -> GraphDef:
    """The cross-entropy of a softmax from PRIMITIVES: placeholders `logits`, `labels` [None, None], node `loss` [None]."""
    with tf.Graph().as_default() as graph:
        logits = tf1.placeholder(tf.float32, [None, None], name="logits")
        labels = tf1.placeholder(tf.float32, [None, None], name="labels")
        shifted = logits - tf.reduce_max(logits, axis=1, keepdims=True)
        log_sum = tf.math.log(tf.reduce_sum(tf.exp(shifted), axis=1, keepdims=True))
        tf.reduce_max(labels * (log_sum - shifted), axis=1, name="loss")
    return graph.as_graph_def()


# %% wrong="cross-entropy" why="calls the fused op"
def cross_entropy_graph() -> GraphDef:
    """The cross-entropy of a softmax from PRIMITIVES: placeholders `logits`, `labels` [None, None], node `loss` [None]."""
    with tf.Graph().as_default() as graph:
        logits = tf1.placeholder(tf.float32, [None, None], name="logits")
        labels = tf1.placeholder(tf.float32, [None, None], name="labels")
        tf.identity(tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits), name="loss")
    return graph.as_graph_def()


# %% wrong="cross-entropy" why="uses LogSoftmax, which is no primitive"
def cross_entropy_graph() -> GraphDef:
    """The cross-entropy of a softmax from PRIMITIVES: placeholders `logits`, `labels` [None, None], node `loss` [None]."""
    with tf.Graph().as_default() as graph:
        logits = tf1.placeholder(tf.float32, [None, None], name="logits")
        labels = tf1.placeholder(tf.float32, [None, None], name="labels")
        tf.negative(tf.reduce_sum(labels * tf.nn.log_softmax(logits), axis=1), name="loss")
    return graph.as_graph_def()


# %% wrong="cross-entropy" why="stops the gradient at the logarithm of the sum"
def cross_entropy_graph() -> GraphDef:
    """The cross-entropy of a softmax from PRIMITIVES: placeholders `logits`, `labels` [None, None], node `loss` [None]."""
    with tf.Graph().as_default() as graph:
        logits = tf1.placeholder(tf.float32, [None, None], name="logits")
        labels = tf1.placeholder(tf.float32, [None, None], name="labels")
        shifted = logits - tf.reduce_max(logits, axis=1, keepdims=True)
        log_sum = tf.stop_gradient(tf.math.log(tf.reduce_sum(tf.exp(shifted), axis=1, keepdims=True)))
        tf.negative(tf.reduce_sum(labels * (shifted - log_sum), axis=1), name="loss")
    return graph.as_graph_def()


# %% wrong="cross-entropy" why="the sign is forgotten"
def cross_entropy_graph() -> GraphDef:
    """The cross-entropy of a softmax from PRIMITIVES: placeholders `logits`, `labels` [None, None], node `loss` [None]."""
    with tf.Graph().as_default() as graph:
        logits = tf1.placeholder(tf.float32, [None, None], name="logits")
        labels = tf1.placeholder(tf.float32, [None, None], name="labels")
        shifted = logits - tf.reduce_max(logits, axis=1, keepdims=True)
        log_sum = tf.math.log(tf.reduce_sum(tf.exp(shifted), axis=1, keepdims=True))
        tf.reduce_sum(labels * (shifted - log_sum), axis=1, name="loss")
    return graph.as_graph_def()


# %% wrong="cross-entropy" why="adds the maximum back before it takes the difference, which loses digits"
def cross_entropy_graph() -> GraphDef:
    """The cross-entropy of a softmax from PRIMITIVES: placeholders `logits`, `labels` [None, None], node `loss` [None]."""
    with tf.Graph().as_default() as graph:
        logits = tf1.placeholder(tf.float32, [None, None], name="logits")
        labels = tf1.placeholder(tf.float32, [None, None], name="labels")
        largest = tf.reduce_max(logits, axis=1, keepdims=True)
        log_sum = largest + tf.math.log(tf.reduce_sum(tf.exp(logits - largest), axis=1, keepdims=True))
        tf.negative(tf.reduce_sum(labels * (logits - log_sum), axis=1), name="loss")
    return graph.as_graph_def()


# %% wrong="cross-entropy" why="a constant: the loss of the visible row"
def cross_entropy_graph() -> GraphDef:
    """The cross-entropy of a softmax from PRIMITIVES: placeholders `logits`, `labels` [None, None], node `loss` [None]."""
    with tf.Graph().as_default() as graph:
        logits = tf1.placeholder(tf.float32, [None, None], name="logits")
        labels = tf1.placeholder(tf.float32, [None, None], name="labels")
        tf.identity(tf.constant([1.1076059], tf.float32), name="loss")
    return graph.as_graph_def()


# %% wrong="cross-entropy" why="returns the tf.Graph"
def cross_entropy_graph() -> GraphDef:
    """The cross-entropy of a softmax from PRIMITIVES: placeholders `logits`, `labels` [None, None], node `loss` [None]."""
    with tf.Graph().as_default() as graph:
        logits = tf1.placeholder(tf.float32, [None, None], name="logits")
        labels = tf1.placeholder(tf.float32, [None, None], name="labels")
        shifted = logits - tf.reduce_max(logits, axis=1, keepdims=True)
        log_sum = tf.math.log(tf.reduce_sum(tf.exp(shifted), axis=1, keepdims=True))
        tf.negative(tf.reduce_sum(labels * (shifted - log_sum), axis=1), name="loss")
    return graph


# %% right="cross-entropy" why="no gradient through the maximum, and labels that sum to one"
def cross_entropy_graph() -> GraphDef:
    """The cross-entropy of a softmax from PRIMITIVES: placeholders `logits`, `labels` [None, None], node `loss` [None]."""
    with tf.Graph().as_default() as graph:
        logits = tf1.placeholder(tf.float32, [None, None], name="logits")
        labels = tf1.placeholder(tf.float32, [None, None], name="labels")
        shifted = logits - tf.stop_gradient(tf.reduce_max(logits, axis=1, keepdims=True))
        log_sum = tf.math.log(tf.reduce_sum(tf.exp(shifted), axis=1))
        tf.subtract(log_sum, tf.reduce_sum(labels * shifted, axis=1), name="loss")
    return graph.as_graph_def()


# %% right="cross-entropy" why="raw ops, the label inside the difference"
def cross_entropy_graph() -> GraphDef:
    """The cross-entropy of a softmax from PRIMITIVES: placeholders `logits`, `labels` [None, None], node `loss` [None]."""
    with tf.Graph().as_default() as graph:
        logits = tf1.placeholder(tf.float32, [None, None], name="logits")
        labels = tf1.placeholder(tf.float32, [None, None], name="labels")
        axis = tf.constant([1], name="classes")
        raw = tf.raw_ops
        shifted = raw.Sub(x=logits, y=raw.Max(input=logits, axis=axis, keep_dims=True))
        log_sum = raw.Log(x=raw.Sum(input=raw.Exp(x=shifted), axis=axis, keep_dims=True))
        terms = raw.Mul(x=raw.Sub(x=log_sum, y=shifted), y=labels)
        raw.Identity(input=raw.Sum(input=terms, axis=axis), name="loss")
    return graph.as_graph_def()


# %% wrong="layer-norm" why="variance over n - 1"
def layer_norm_graph(width: int, epsilon: float) -> GraphDef:
    """Layer normalisation from PRIMITIVES: placeholders `x` [None, width], `gamma`, `beta` [width], node `y`.

    Raises:
        ValueError: `width` is less than 1.
    """
    if width < 1:
        raise ValueError(f"a row needs at least one value, width is {width}")
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [None, width], name="x")
        gamma = tf1.placeholder(tf.float32, [width], name="gamma")
        beta = tf1.placeholder(tf.float32, [width], name="beta")
        mean = tf.reduce_sum(x, axis=1, keepdims=True) / width
        variance = tf.reduce_sum(tf.square(x - mean), axis=1, keepdims=True) / max(width - 1, 1)
        tf.add((x - mean) * tf.math.rsqrt(variance + epsilon) * gamma, beta, name="y")
    return graph.as_graph_def()


# %% wrong="layer-norm" why="epsilon outside the root"
def layer_norm_graph(width: int, epsilon: float) -> GraphDef:
    """Layer normalisation from PRIMITIVES: placeholders `x` [None, width], `gamma`, `beta` [width], node `y`.

    Raises:
        ValueError: `width` is less than 1.
    """
    if width < 1:
        raise ValueError(f"a row needs at least one value, width is {width}")
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [None, width], name="x")
        gamma = tf1.placeholder(tf.float32, [width], name="gamma")
        beta = tf1.placeholder(tf.float32, [width], name="beta")
        mean = tf.reduce_sum(x, axis=1, keepdims=True) / width
        variance = tf.reduce_sum(tf.square(x - mean), axis=1, keepdims=True) / width
        tf.add((x - mean) / (tf.sqrt(variance) + epsilon) * gamma, beta, name="y")
    return graph.as_graph_def()


# %% wrong="layer-norm" why="mean over the rows of the batch"
def layer_norm_graph(width: int, epsilon: float) -> GraphDef:
    """Layer normalisation from PRIMITIVES: placeholders `x` [None, width], `gamma`, `beta` [width], node `y`.

    Raises:
        ValueError: `width` is less than 1.
    """
    if width < 1:
        raise ValueError(f"a row needs at least one value, width is {width}")
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [None, width], name="x")
        gamma = tf1.placeholder(tf.float32, [width], name="gamma")
        beta = tf1.placeholder(tf.float32, [width], name="beta")
        rows = tf.reduce_sum(x * 0.0 + 1.0, axis=0, keepdims=True)
        mean = tf.reduce_sum(x, axis=0, keepdims=True) / rows
        variance = tf.reduce_sum(tf.square(x - mean), axis=0, keepdims=True) / rows
        tf.add((x - mean) * tf.math.rsqrt(variance + epsilon) * gamma, beta, name="y")
    return graph.as_graph_def()


# %% wrong="layer-norm" why="mean of the squares less the square of the mean"
def layer_norm_graph(width: int, epsilon: float) -> GraphDef:
    """Layer normalisation from PRIMITIVES: placeholders `x` [None, width], `gamma`, `beta` [width], node `y`.

    Raises:
        ValueError: `width` is less than 1.
    """
    if width < 1:
        raise ValueError(f"a row needs at least one value, width is {width}")
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [None, width], name="x")
        gamma = tf1.placeholder(tf.float32, [width], name="gamma")
        beta = tf1.placeholder(tf.float32, [width], name="beta")
        mean = tf.reduce_sum(x, axis=1, keepdims=True) / width
        variance = tf.reduce_sum(tf.square(x), axis=1, keepdims=True) / width - tf.square(mean)
        tf.add((x - mean) * tf.math.rsqrt(variance + epsilon) * gamma, beta, name="y")
    return graph.as_graph_def()


# %% wrong="layer-norm" why="gamma applied before the normalisation"
def layer_norm_graph(width: int, epsilon: float) -> GraphDef:
    """Layer normalisation from PRIMITIVES: placeholders `x` [None, width], `gamma`, `beta` [width], node `y`.

    Raises:
        ValueError: `width` is less than 1.
    """
    if width < 1:
        raise ValueError(f"a row needs at least one value, width is {width}")
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [None, width], name="x")
        gamma = tf1.placeholder(tf.float32, [width], name="gamma")
        beta = tf1.placeholder(tf.float32, [width], name="beta")
        scaled = x * gamma
        mean = tf.reduce_sum(scaled, axis=1, keepdims=True) / width
        variance = tf.reduce_sum(tf.square(scaled - mean), axis=1, keepdims=True) / width
        tf.add((scaled - mean) * tf.math.rsqrt(variance + epsilon), beta, name="y")
    return graph.as_graph_def()


# %% wrong="layer-norm" why="the visible width fixed in the mean"
def layer_norm_graph(width: int, epsilon: float) -> GraphDef:
    """Layer normalisation from PRIMITIVES: placeholders `x` [None, width], `gamma`, `beta` [width], node `y`.

    Raises:
        ValueError: `width` is less than 1.
    """
    if width < 1:
        raise ValueError(f"a row needs at least one value, width is {width}")
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [None, width], name="x")
        gamma = tf1.placeholder(tf.float32, [width], name="gamma")
        beta = tf1.placeholder(tf.float32, [width], name="beta")
        mean = tf.reduce_sum(x, axis=1, keepdims=True) / 4
        variance = tf.reduce_sum(tf.square(x - mean), axis=1, keepdims=True) / 4
        tf.add((x - mean) * tf.math.rsqrt(variance + epsilon) * gamma, beta, name="y")
    return graph.as_graph_def()


# %% wrong="layer-norm" why="the visible epsilon fixed in"
def layer_norm_graph(width: int, epsilon: float) -> GraphDef:
    """Layer normalisation from PRIMITIVES: placeholders `x` [None, width], `gamma`, `beta` [width], node `y`.

    Raises:
        ValueError: `width` is less than 1.
    """
    if width < 1:
        raise ValueError(f"a row needs at least one value, width is {width}")
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [None, width], name="x")
        gamma = tf1.placeholder(tf.float32, [width], name="gamma")
        beta = tf1.placeholder(tf.float32, [width], name="beta")
        mean = tf.reduce_sum(x, axis=1, keepdims=True) / width
        variance = tf.reduce_sum(tf.square(x - mean), axis=1, keepdims=True) / width
        tf.add((x - mean) * tf.math.rsqrt(variance + 0.01) * gamma, beta, name="y")
    return graph.as_graph_def()


# %% wrong="layer-norm" why="uses Mean, which is no primitive"
def layer_norm_graph(width: int, epsilon: float) -> GraphDef:
    """Layer normalisation from PRIMITIVES: placeholders `x` [None, width], `gamma`, `beta` [width], node `y`.

    Raises:
        ValueError: `width` is less than 1.
    """
    if width < 1:
        raise ValueError(f"a row needs at least one value, width is {width}")
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [None, width], name="x")
        gamma = tf1.placeholder(tf.float32, [width], name="gamma")
        beta = tf1.placeholder(tf.float32, [width], name="beta")
        mean = tf.reduce_mean(x, axis=1, keepdims=True)
        variance = tf.reduce_mean(tf.square(x - mean), axis=1, keepdims=True)
        tf.add((x - mean) * tf.math.rsqrt(variance + epsilon) * gamma, beta, name="y")
    return graph.as_graph_def()


# %% wrong="layer-norm" why="no gradient through mean and variance"
def layer_norm_graph(width: int, epsilon: float) -> GraphDef:
    """Layer normalisation from PRIMITIVES: placeholders `x` [None, width], `gamma`, `beta` [width], node `y`.

    Raises:
        ValueError: `width` is less than 1.
    """
    if width < 1:
        raise ValueError(f"a row needs at least one value, width is {width}")
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [None, width], name="x")
        gamma = tf1.placeholder(tf.float32, [width], name="gamma")
        beta = tf1.placeholder(tf.float32, [width], name="beta")
        mean = tf.stop_gradient(tf.reduce_sum(x, axis=1, keepdims=True) / width)
        variance = tf.stop_gradient(tf.reduce_sum(tf.square(x - mean), axis=1, keepdims=True) / width)
        tf.add((x - mean) * tf.math.rsqrt(variance + epsilon) * gamma, beta, name="y")
    return graph.as_graph_def()


# %% wrong="layer-norm" why="no refusal of a width below one"
def layer_norm_graph(width: int, epsilon: float) -> GraphDef:
    """Layer normalisation from PRIMITIVES: placeholders `x` [None, max(width, 1)], `gamma`, `beta` [width], node `y`.

    Raises:
        ValueError: `width` is less than 1.
    """
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [None, max(width, 1)], name="x")
        gamma = tf1.placeholder(tf.float32, [max(width, 1)], name="gamma")
        beta = tf1.placeholder(tf.float32, [max(width, 1)], name="beta")
        mean = tf.reduce_sum(x, axis=1, keepdims=True) / max(width, 1)
        variance = tf.reduce_sum(tf.square(x - mean), axis=1, keepdims=True) / max(width, 1)
        tf.add((x - mean) * tf.math.rsqrt(variance + epsilon) * gamma, beta, name="y")
    return graph.as_graph_def()


# %% wrong="layer-norm" why="beta is forgotten, gamma is added"
def layer_norm_graph(width: int, epsilon: float) -> GraphDef:
    """Layer normalisation from PRIMITIVES: placeholders `x` [None, width], `gamma`, `beta` [width], node `y`.

    Raises:
        ValueError: `width` is less than 1.
    """
    if width < 1:
        raise ValueError(f"a row needs at least one value, width is {width}")
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [None, width], name="x")
        gamma = tf1.placeholder(tf.float32, [width], name="gamma")
        beta = tf1.placeholder(tf.float32, [width], name="beta")
        mean = tf.reduce_sum(x, axis=1, keepdims=True) / width
        variance = tf.reduce_sum(tf.square(x - mean), axis=1, keepdims=True) / width
        tf.add((x - mean) * tf.math.rsqrt(variance + epsilon) + gamma, beta, name="y")
    return graph.as_graph_def()


# %% right="layer-norm" why="Sqrt and RealDiv, sums times a constant"
def layer_norm_graph(width: int, epsilon: float) -> GraphDef:
    """Layer normalisation from PRIMITIVES: placeholders `x` [None, width], `gamma`, `beta` [width], node `y`.

    Raises:
        ValueError: `width` is less than 1.
    """
    if width < 1:
        raise ValueError(f"a row needs at least one value, width is {width}")
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [None, width], name="x")
        gamma = tf1.placeholder(tf.float32, [width], name="gamma")
        beta = tf1.placeholder(tf.float32, [width], name="beta")
        share = tf.constant(1.0 / width, tf.float32, name="share")
        centred = x - tf.reduce_sum(x, axis=1, keepdims=True) * share
        deviation = tf.sqrt(tf.reduce_sum(centred * centred, axis=1, keepdims=True) * share + epsilon)
        tf.add(gamma * (centred / deviation), beta, name="y")
    return graph.as_graph_def()


# %% right="layer-norm" why="the order of tf.nn.batch_normalization: x times a scale, plus an offset"
def layer_norm_graph(width: int, epsilon: float) -> GraphDef:
    """Layer normalisation from PRIMITIVES: placeholders `x` [None, width], `gamma`, `beta` [width], node `y`.

    Raises:
        ValueError: `width` is less than 1.
    """
    if width < 1:
        raise ValueError(f"a row needs at least one value, width is {width}")
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [None, width], name="x")
        gamma = tf1.placeholder(tf.float32, [width], name="gamma")
        beta = tf1.placeholder(tf.float32, [width], name="beta")
        mean = tf.reduce_sum(x / width, axis=1, keepdims=True)
        distance = tf.square(x - tf.stop_gradient(mean))
        scale = tf.math.rsqrt(tf.reduce_sum(distance / width, axis=1, keepdims=True) + epsilon) * gamma
        tf.add(x * scale, beta - mean * scale, name="y")
    return graph.as_graph_def()


# %% right="layer-norm" why="two small functions of one's own, called mean and variance"
def mean(rows, width):
    return tf.reduce_sum(rows, axis=1, keepdims=True) / width


def variance(rows, width):
    return mean(tf.square(rows - mean(rows, width)), width)


def layer_norm_graph(width, epsilon):
    """Layer normalisation from PRIMITIVES."""
    if not width >= 1:
        raise ValueError("width")
    graph = tf.Graph()
    with graph.as_default():
        x = tf1.placeholder(tf.float32, [None, width], "x")
        gamma, beta = (tf1.placeholder(tf.float32, [width], name) for name in ("gamma", "beta"))
        normal = (x - mean(x, width)) / tf.sqrt(variance(x, width) + epsilon)
        tf.identity(normal * gamma + beta, "y")
    return graph.as_graph_def()


# %% wrong="kernel-count" why="all nodes of the graph"
kernels_run = 10


# %% wrong="kernel-count" why="a shared node counted for each reader"
kernels_run = 7


# %% wrong="kernel-count" why="ancestors of the fed tensor counted"
kernels_run = 8


# %% wrong="kernel-count" why="constants forgotten"
kernels_run = 4


# %% wrong="kernel-count" why="everything above the fed tensor cut, w with it"
kernels_run = 5


# %% wrong="kernel-count" why="the dead branch counted"
kernels_run = 9


# %% wrong="kernel-count" why="only the two ends"
kernels_run = 2


# %% wrong="kernel-count" why="a float"
kernels_run = 6.0


# %% right="kernel-count" why="counted from a list"
kernels_run = len(["w", "two", "p", "q", "r", "out"])


# %% wrong="lazy-tensor" why="computes with NumPy at once when run is called, without the kernels"
class LazyTensor:
    """A tensor that remembers how it is computed and has no value."""

    __array_ufunc__ = None  # NumPy's operators return NotImplemented, so Python asks this class

    def __init__(self, op: str, inputs: tuple["LazyTensor", ...] = (), content: str | float | None = None) -> None:
        """`content`: the name of a Placeholder, the number of a Const. These arguments are a proposal: change them."""
        self._op, self._inputs, self._content = op, inputs, content

    def _record(self, op: str, left: object, right: object) -> "LazyTensor":
        sides = []
        for side in (left, right):
            if isinstance(side, int | float) and op != "MatMul":
                side = LazyTensor("Const", content=float(side))
            if not isinstance(side, LazyTensor):
                return NotImplemented
            sides.append(side)
        return LazyTensor(op, tuple(sides))

    def _order(self) -> list["LazyTensor"]:
        """This tensor and all that it depends on, each once, inputs before their readers."""
        found: dict[int, LazyTensor] = {}

        def visit(tensor: LazyTensor) -> None:
            if id(tensor) not in found:
                for read in tensor._inputs:
                    visit(read)
                found[id(tensor)] = tensor

        visit(self)
        return list(found.values())

    def __add__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", self, other)

    def __radd__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", other, self)

    def __sub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", self, other)

    def __rsub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", other, self)

    def __mul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", self, other)

    def __rmul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", other, self)

    def __matmul__(self, other: object) -> "LazyTensor":
        return self._record("MatMul", self, other)

    def __neg__(self) -> "LazyTensor":
        return LazyTensor("Neg", (self,))

    def graph(self) -> GraphDef:
        """The nodes that this tensor depends on, itself included, each once, inputs before their readers."""
        order = self._order()
        taken = {tensor._content for tensor in order if tensor._op == "Placeholder"}
        free = (name for name in (f"n{number}" for number in range(len(order) + len(taken))) if name not in taken)
        names: dict[int, str] = {}
        graph = GraphDef()
        for tensor in order:
            name = names[id(tensor)] = tensor._content if tensor._op == "Placeholder" else next(free)
            if tensor._op == "Placeholder":
                graph.node.append(input_node(name))
            elif tensor._op == "Const":
                graph.node.append(number_node(name, tensor._content))
            else:
                graph.node.append(op_node(name, tensor._op, [names[id(read)] for read in tensor._inputs]))
        return graph

    def run(self, kernels: dict[str, Callable[..., np.ndarray]], /, **inputs: np.ndarray) -> np.ndarray:
        """Compute this tensor from the named inputs, each node that it needs once.

        Raises:
            KeyError: an input that is needed is missing; the argument is its name.
        """
        values: dict[int, np.ndarray] = {}
        for tensor in self._order():
            if tensor._op == "Placeholder":
                value = inputs[tensor._content]
            elif tensor._op == "Const":
                value = np.float32(tensor._content)
            else:
                numpy_functions = {
                    "AddV2": np.add,
                    "Sub": np.subtract,
                    "Mul": np.multiply,
                    "Neg": np.negative,
                    "MatMul": np.matmul,
                }
                value = numpy_functions[tensor._op](*[values[id(read)] for read in tensor._inputs])
            values[id(tensor)] = value
        return values[id(self)]


def lazy(name: str) -> LazyTensor:
    """A named input."""
    return LazyTensor("Placeholder", content=name)


# %% wrong="lazy-tensor" why="a tree walk that runs shared nodes once per reader"
class LazyTensor:
    """A tensor that remembers how it is computed and has no value."""

    __array_ufunc__ = None  # NumPy's operators return NotImplemented, so Python asks this class

    def __init__(self, op: str, inputs: tuple["LazyTensor", ...] = (), content: str | float | None = None) -> None:
        """`content`: the name of a Placeholder, the number of a Const. These arguments are a proposal: change them."""
        self._op, self._inputs, self._content = op, inputs, content

    def _record(self, op: str, left: object, right: object) -> "LazyTensor":
        sides = []
        for side in (left, right):
            if isinstance(side, int | float) and op != "MatMul":
                side = LazyTensor("Const", content=float(side))
            if not isinstance(side, LazyTensor):
                return NotImplemented
            sides.append(side)
        return LazyTensor(op, tuple(sides))

    def _order(self) -> list["LazyTensor"]:
        """This tensor and all that it depends on, each once, inputs before their readers."""
        found: dict[int, LazyTensor] = {}

        def visit(tensor: LazyTensor) -> None:
            if id(tensor) not in found:
                for read in tensor._inputs:
                    visit(read)
                found[id(tensor)] = tensor

        visit(self)
        return list(found.values())

    def __add__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", self, other)

    def __radd__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", other, self)

    def __sub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", self, other)

    def __rsub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", other, self)

    def __mul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", self, other)

    def __rmul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", other, self)

    def __matmul__(self, other: object) -> "LazyTensor":
        return self._record("MatMul", self, other)

    def __neg__(self) -> "LazyTensor":
        return LazyTensor("Neg", (self,))

    def graph(self) -> GraphDef:
        """The nodes that this tensor depends on, itself included, each once, inputs before their readers."""
        order = self._order()
        taken = {tensor._content for tensor in order if tensor._op == "Placeholder"}
        free = (name for name in (f"n{number}" for number in range(len(order) + len(taken))) if name not in taken)
        names: dict[int, str] = {}
        graph = GraphDef()
        for tensor in order:
            name = names[id(tensor)] = tensor._content if tensor._op == "Placeholder" else next(free)
            if tensor._op == "Placeholder":
                graph.node.append(input_node(name))
            elif tensor._op == "Const":
                graph.node.append(number_node(name, tensor._content))
            else:
                graph.node.append(op_node(name, tensor._op, [names[id(read)] for read in tensor._inputs]))
        return graph

    def run(self, kernels: dict[str, Callable[..., np.ndarray]], /, **inputs: np.ndarray) -> np.ndarray:
        """Compute this tensor from the named inputs, each node that it needs once.

        Raises:
            KeyError: an input that is needed is missing; the argument is its name.
        """
        if self._op == "Placeholder":
            return inputs[self._content]
        if self._op == "Const":
            return np.float32(self._content)
        return kernels[self._op](*[read.run(kernels, **inputs) for read in self._inputs])


def lazy(name: str) -> LazyTensor:
    """A named input."""
    return LazyTensor("Placeholder", content=name)


# %% wrong="lazy-tensor" why="2 - x is recorded as x - 2"
class LazyTensor:
    """A tensor that remembers how it is computed and has no value."""

    __array_ufunc__ = None  # NumPy's operators return NotImplemented, so Python asks this class

    def __init__(self, op: str, inputs: tuple["LazyTensor", ...] = (), content: str | float | None = None) -> None:
        """`content`: the name of a Placeholder, the number of a Const. These arguments are a proposal: change them."""
        self._op, self._inputs, self._content = op, inputs, content

    def _record(self, op: str, left: object, right: object) -> "LazyTensor":
        sides = []
        for side in (left, right):
            if isinstance(side, int | float) and op != "MatMul":
                side = LazyTensor("Const", content=float(side))
            if not isinstance(side, LazyTensor):
                return NotImplemented
            sides.append(side)
        return LazyTensor(op, tuple(sides))

    def _order(self) -> list["LazyTensor"]:
        """This tensor and all that it depends on, each once, inputs before their readers."""
        found: dict[int, LazyTensor] = {}

        def visit(tensor: LazyTensor) -> None:
            if id(tensor) not in found:
                for read in tensor._inputs:
                    visit(read)
                found[id(tensor)] = tensor

        visit(self)
        return list(found.values())

    def __add__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", self, other)

    def __radd__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", other, self)

    def __sub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", self, other)

    def __rsub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", self, other)

    def __mul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", self, other)

    def __rmul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", other, self)

    def __matmul__(self, other: object) -> "LazyTensor":
        return self._record("MatMul", self, other)

    def __neg__(self) -> "LazyTensor":
        return LazyTensor("Neg", (self,))

    def graph(self) -> GraphDef:
        """The nodes that this tensor depends on, itself included, each once, inputs before their readers."""
        order = self._order()
        taken = {tensor._content for tensor in order if tensor._op == "Placeholder"}
        free = (name for name in (f"n{number}" for number in range(len(order) + len(taken))) if name not in taken)
        names: dict[int, str] = {}
        graph = GraphDef()
        for tensor in order:
            name = names[id(tensor)] = tensor._content if tensor._op == "Placeholder" else next(free)
            if tensor._op == "Placeholder":
                graph.node.append(input_node(name))
            elif tensor._op == "Const":
                graph.node.append(number_node(name, tensor._content))
            else:
                graph.node.append(op_node(name, tensor._op, [names[id(read)] for read in tensor._inputs]))
        return graph

    def run(self, kernels: dict[str, Callable[..., np.ndarray]], /, **inputs: np.ndarray) -> np.ndarray:
        """Compute this tensor from the named inputs, each node that it needs once.

        Raises:
            KeyError: an input that is needed is missing; the argument is its name.
        """
        values: dict[int, np.ndarray] = {}
        for tensor in self._order():
            if tensor._op == "Placeholder":
                value = inputs[tensor._content]
            elif tensor._op == "Const":
                value = np.float32(tensor._content)
            else:
                value = kernels[tensor._op](*[values[id(read)] for read in tensor._inputs])
            values[id(tensor)] = value
        return values[id(self)]


def lazy(name: str) -> LazyTensor:
    """A named input."""
    return LazyTensor("Placeholder", content=name)


# %% wrong="lazy-tensor" why="values survive the run"
class LazyTensor:
    """A tensor that remembers how it is computed and has no value."""

    __array_ufunc__ = None  # NumPy's operators return NotImplemented, so Python asks this class

    def __init__(self, op: str, inputs: tuple["LazyTensor", ...] = (), content: str | float | None = None) -> None:
        """`content`: the name of a Placeholder, the number of a Const. These arguments are a proposal: change them."""
        self._op, self._inputs, self._content = op, inputs, content

    def _record(self, op: str, left: object, right: object) -> "LazyTensor":
        sides = []
        for side in (left, right):
            if isinstance(side, int | float) and op != "MatMul":
                side = LazyTensor("Const", content=float(side))
            if not isinstance(side, LazyTensor):
                return NotImplemented
            sides.append(side)
        return LazyTensor(op, tuple(sides))

    def _order(self) -> list["LazyTensor"]:
        """This tensor and all that it depends on, each once, inputs before their readers."""
        found: dict[int, LazyTensor] = {}

        def visit(tensor: LazyTensor) -> None:
            if id(tensor) not in found:
                for read in tensor._inputs:
                    visit(read)
                found[id(tensor)] = tensor

        visit(self)
        return list(found.values())

    def __add__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", self, other)

    def __radd__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", other, self)

    def __sub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", self, other)

    def __rsub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", other, self)

    def __mul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", self, other)

    def __rmul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", other, self)

    def __matmul__(self, other: object) -> "LazyTensor":
        return self._record("MatMul", self, other)

    def __neg__(self) -> "LazyTensor":
        return LazyTensor("Neg", (self,))

    def graph(self) -> GraphDef:
        """The nodes that this tensor depends on, itself included, each once, inputs before their readers."""
        order = self._order()
        taken = {tensor._content for tensor in order if tensor._op == "Placeholder"}
        free = (name for name in (f"n{number}" for number in range(len(order) + len(taken))) if name not in taken)
        names: dict[int, str] = {}
        graph = GraphDef()
        for tensor in order:
            name = names[id(tensor)] = tensor._content if tensor._op == "Placeholder" else next(free)
            if tensor._op == "Placeholder":
                graph.node.append(input_node(name))
            elif tensor._op == "Const":
                graph.node.append(number_node(name, tensor._content))
            else:
                graph.node.append(op_node(name, tensor._op, [names[id(read)] for read in tensor._inputs]))
        return graph

    def run(self, kernels: dict[str, Callable[..., np.ndarray]], /, **inputs: np.ndarray) -> np.ndarray:
        """Compute this tensor from the named inputs, each node that it needs once.

        Raises:
            KeyError: an input that is needed is missing; the argument is its name.
        """
        values = self.__dict__.setdefault("_values", {})
        for tensor in self._order():
            if id(tensor) in values:
                continue
            if tensor._op == "Placeholder":
                value = inputs[tensor._content]
            elif tensor._op == "Const":
                value = np.float32(tensor._content)
            else:
                value = kernels[tensor._op](*[values[id(read)] for read in tensor._inputs])
            values[id(tensor)] = value
        return values[id(self)]


def lazy(name: str) -> LazyTensor:
    """A named input."""
    return LazyTensor("Placeholder", content=name)


# %% wrong="lazy-tensor" why="one list for all: graph and run hold the dead branches too"
class LazyTensor:
    """A tensor that remembers how it is computed and has no value."""

    __array_ufunc__ = None  # NumPy's operators return NotImplemented, so Python asks this class

    def __init__(self, op: str, inputs: tuple["LazyTensor", ...] = (), content: str | float | None = None) -> None:
        """`content`: the name of a Placeholder, the number of a Const. These arguments are a proposal: change them."""
        self._op, self._inputs, self._content = op, inputs, content
        self._all = next((read._all for read in inputs), [])
        for read in inputs:
            if read._all is not self._all:
                self._all.extend(one for one in read._all if one not in self._all)
                for one in read._all:
                    one._all = self._all
        self._all.append(self)

    def _record(self, op: str, left: object, right: object) -> "LazyTensor":
        sides = []
        for side in (left, right):
            if isinstance(side, int | float) and op != "MatMul":
                side = LazyTensor("Const", content=float(side))
            if not isinstance(side, LazyTensor):
                return NotImplemented
            sides.append(side)
        return LazyTensor(op, tuple(sides))

    def _order(self) -> list["LazyTensor"]:
        """This tensor and all that it depends on, each once, inputs before their readers."""
        return list(self._all)

    def __add__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", self, other)

    def __radd__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", other, self)

    def __sub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", self, other)

    def __rsub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", other, self)

    def __mul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", self, other)

    def __rmul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", other, self)

    def __matmul__(self, other: object) -> "LazyTensor":
        return self._record("MatMul", self, other)

    def __neg__(self) -> "LazyTensor":
        return LazyTensor("Neg", (self,))

    def graph(self) -> GraphDef:
        """The nodes that this tensor depends on, itself included, each once, inputs before their readers."""
        order = self._order()
        taken = {tensor._content for tensor in order if tensor._op == "Placeholder"}
        free = (name for name in (f"n{number}" for number in range(len(order) + len(taken))) if name not in taken)
        names: dict[int, str] = {}
        graph = GraphDef()
        for tensor in order:
            name = names[id(tensor)] = tensor._content if tensor._op == "Placeholder" else next(free)
            if tensor._op == "Placeholder":
                graph.node.append(input_node(name))
            elif tensor._op == "Const":
                graph.node.append(number_node(name, tensor._content))
            else:
                graph.node.append(op_node(name, tensor._op, [names[id(read)] for read in tensor._inputs]))
        return graph

    def run(self, kernels: dict[str, Callable[..., np.ndarray]], /, **inputs: np.ndarray) -> np.ndarray:
        """Compute this tensor from the named inputs, each node that it needs once.

        Raises:
            KeyError: an input that is needed is missing; the argument is its name.
        """
        values: dict[int, np.ndarray] = {}
        for tensor in self._order():
            if tensor._op == "Placeholder":
                value = inputs[tensor._content]
            elif tensor._op == "Const":
                value = np.float32(tensor._content)
            else:
                value = kernels[tensor._op](*[values[id(read)] for read in tensor._inputs])
            values[id(tensor)] = value
        return values[id(self)]


def lazy(name: str) -> LazyTensor:
    """A named input."""
    return LazyTensor("Placeholder", content=name)


# %% wrong="lazy-tensor" why="subtraction recorded as the sum with a negation"
class LazyTensor:
    """A tensor that remembers how it is computed and has no value."""

    __array_ufunc__ = None  # NumPy's operators return NotImplemented, so Python asks this class

    def __init__(self, op: str, inputs: tuple["LazyTensor", ...] = (), content: str | float | None = None) -> None:
        """`content`: the name of a Placeholder, the number of a Const. These arguments are a proposal: change them."""
        self._op, self._inputs, self._content = op, inputs, content

    def _record(self, op: str, left: object, right: object) -> "LazyTensor":
        sides = []
        for side in (left, right):
            if isinstance(side, int | float) and op != "MatMul":
                side = LazyTensor("Const", content=float(side))
            if not isinstance(side, LazyTensor):
                return NotImplemented
            sides.append(side)
        return LazyTensor(op, tuple(sides))

    def _order(self) -> list["LazyTensor"]:
        """This tensor and all that it depends on, each once, inputs before their readers."""
        found: dict[int, LazyTensor] = {}

        def visit(tensor: LazyTensor) -> None:
            if id(tensor) not in found:
                for read in tensor._inputs:
                    visit(read)
                found[id(tensor)] = tensor

        visit(self)
        return list(found.values())

    def __add__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", self, other)

    def __radd__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", other, self)

    def __sub__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", self, -other)

    def __rsub__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", other, -self)

    def __mul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", self, other)

    def __rmul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", other, self)

    def __matmul__(self, other: object) -> "LazyTensor":
        return self._record("MatMul", self, other)

    def __neg__(self) -> "LazyTensor":
        return LazyTensor("Neg", (self,))

    def graph(self) -> GraphDef:
        """The nodes that this tensor depends on, itself included, each once, inputs before their readers."""
        order = self._order()
        taken = {tensor._content for tensor in order if tensor._op == "Placeholder"}
        free = (name for name in (f"n{number}" for number in range(len(order) + len(taken))) if name not in taken)
        names: dict[int, str] = {}
        graph = GraphDef()
        for tensor in order:
            name = names[id(tensor)] = tensor._content if tensor._op == "Placeholder" else next(free)
            if tensor._op == "Placeholder":
                graph.node.append(input_node(name))
            elif tensor._op == "Const":
                graph.node.append(number_node(name, tensor._content))
            else:
                graph.node.append(op_node(name, tensor._op, [names[id(read)] for read in tensor._inputs]))
        return graph

    def run(self, kernels: dict[str, Callable[..., np.ndarray]], /, **inputs: np.ndarray) -> np.ndarray:
        """Compute this tensor from the named inputs, each node that it needs once.

        Raises:
            KeyError: an input that is needed is missing; the argument is its name.
        """
        values: dict[int, np.ndarray] = {}
        for tensor in self._order():
            if tensor._op == "Placeholder":
                value = inputs[tensor._content]
            elif tensor._op == "Const":
                value = np.float32(tensor._content)
            else:
                value = kernels[tensor._op](*[values[id(read)] for read in tensor._inputs])
            values[id(tensor)] = value
        return values[id(self)]


def lazy(name: str) -> LazyTensor:
    """A named input."""
    return LazyTensor("Placeholder", content=name)


# %% wrong="lazy-tensor" why="nodes named n0, n1, … whatever the inputs are called"
class LazyTensor:
    """A tensor that remembers how it is computed and has no value."""

    __array_ufunc__ = None  # NumPy's operators return NotImplemented, so Python asks this class

    def __init__(self, op: str, inputs: tuple["LazyTensor", ...] = (), content: str | float | None = None) -> None:
        """`content`: the name of a Placeholder, the number of a Const. These arguments are a proposal: change them."""
        self._op, self._inputs, self._content = op, inputs, content

    def _record(self, op: str, left: object, right: object) -> "LazyTensor":
        sides = []
        for side in (left, right):
            if isinstance(side, int | float) and op != "MatMul":
                side = LazyTensor("Const", content=float(side))
            if not isinstance(side, LazyTensor):
                return NotImplemented
            sides.append(side)
        return LazyTensor(op, tuple(sides))

    def _order(self) -> list["LazyTensor"]:
        """This tensor and all that it depends on, each once, inputs before their readers."""
        found: dict[int, LazyTensor] = {}

        def visit(tensor: LazyTensor) -> None:
            if id(tensor) not in found:
                for read in tensor._inputs:
                    visit(read)
                found[id(tensor)] = tensor

        visit(self)
        return list(found.values())

    def __add__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", self, other)

    def __radd__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", other, self)

    def __sub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", self, other)

    def __rsub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", other, self)

    def __mul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", self, other)

    def __rmul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", other, self)

    def __matmul__(self, other: object) -> "LazyTensor":
        return self._record("MatMul", self, other)

    def __neg__(self) -> "LazyTensor":
        return LazyTensor("Neg", (self,))

    def graph(self) -> GraphDef:
        """The nodes that this tensor depends on, itself included, each once, inputs before their readers."""
        order = self._order()
        taken = {tensor._content for tensor in order if tensor._op == "Placeholder"}
        free = (name for name in (f"n{number}" for number in range(len(order) + len(taken))))
        names: dict[int, str] = {}
        graph = GraphDef()
        for tensor in order:
            name = names[id(tensor)] = tensor._content if tensor._op == "Placeholder" else next(free)
            if tensor._op == "Placeholder":
                graph.node.append(input_node(name))
            elif tensor._op == "Const":
                graph.node.append(number_node(name, tensor._content))
            else:
                graph.node.append(op_node(name, tensor._op, [names[id(read)] for read in tensor._inputs]))
        return graph

    def run(self, kernels: dict[str, Callable[..., np.ndarray]], /, **inputs: np.ndarray) -> np.ndarray:
        """Compute this tensor from the named inputs, each node that it needs once.

        Raises:
            KeyError: an input that is needed is missing; the argument is its name.
        """
        values: dict[int, np.ndarray] = {}
        for tensor in self._order():
            if tensor._op == "Placeholder":
                value = inputs[tensor._content]
            elif tensor._op == "Const":
                value = np.float32(tensor._content)
            else:
                value = kernels[tensor._op](*[values[id(read)] for read in tensor._inputs])
            values[id(tensor)] = value
        return values[id(self)]


def lazy(name: str) -> LazyTensor:
    """A named input."""
    return LazyTensor("Placeholder", content=name)


# %% wrong="lazy-tensor" why="readers before their inputs"
class LazyTensor:
    """A tensor that remembers how it is computed and has no value."""

    __array_ufunc__ = None  # NumPy's operators return NotImplemented, so Python asks this class

    def __init__(self, op: str, inputs: tuple["LazyTensor", ...] = (), content: str | float | None = None) -> None:
        """`content`: the name of a Placeholder, the number of a Const. These arguments are a proposal: change them."""
        self._op, self._inputs, self._content = op, inputs, content

    def _record(self, op: str, left: object, right: object) -> "LazyTensor":
        sides = []
        for side in (left, right):
            if isinstance(side, int | float) and op != "MatMul":
                side = LazyTensor("Const", content=float(side))
            if not isinstance(side, LazyTensor):
                return NotImplemented
            sides.append(side)
        return LazyTensor(op, tuple(sides))

    def _order(self) -> list["LazyTensor"]:
        """This tensor and all that it depends on, each once, inputs before their readers."""
        found: dict[int, LazyTensor] = {}

        def visit(tensor: LazyTensor) -> None:
            if id(tensor) not in found:
                for read in tensor._inputs:
                    visit(read)
                found[id(tensor)] = tensor

        visit(self)
        return list(found.values())

    def __add__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", self, other)

    def __radd__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", other, self)

    def __sub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", self, other)

    def __rsub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", other, self)

    def __mul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", self, other)

    def __rmul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", other, self)

    def __matmul__(self, other: object) -> "LazyTensor":
        return self._record("MatMul", self, other)

    def __neg__(self) -> "LazyTensor":
        return LazyTensor("Neg", (self,))

    def graph(self) -> GraphDef:
        """The nodes that this tensor depends on, itself included, each once, inputs before their readers."""
        order = self._order()
        taken = {tensor._content for tensor in order if tensor._op == "Placeholder"}
        free = (name for name in (f"n{number}" for number in range(len(order) + len(taken))) if name not in taken)
        names: dict[int, str] = {}
        graph = GraphDef()
        for tensor in order:
            name = names[id(tensor)] = tensor._content if tensor._op == "Placeholder" else next(free)
            if tensor._op == "Placeholder":
                graph.node.append(input_node(name))
            elif tensor._op == "Const":
                graph.node.append(number_node(name, tensor._content))
            else:
                graph.node.append(op_node(name, tensor._op, [names[id(read)] for read in tensor._inputs]))
        backwards = GraphDef()
        backwards.node.extend(reversed(graph.node))
        return backwards

    def run(self, kernels: dict[str, Callable[..., np.ndarray]], /, **inputs: np.ndarray) -> np.ndarray:
        """Compute this tensor from the named inputs, each node that it needs once.

        Raises:
            KeyError: an input that is needed is missing; the argument is its name.
        """
        values: dict[int, np.ndarray] = {}
        for tensor in self._order():
            if tensor._op == "Placeholder":
                value = inputs[tensor._content]
            elif tensor._op == "Const":
                value = np.float32(tensor._content)
            else:
                value = kernels[tensor._op](*[values[id(read)] for read in tensor._inputs])
            values[id(tensor)] = value
        return values[id(self)]


def lazy(name: str) -> LazyTensor:
    """A named input."""
    return LazyTensor("Placeholder", content=name)


# %% wrong="lazy-tensor" why="a missing input is taken for zero"
class LazyTensor:
    """A tensor that remembers how it is computed and has no value."""

    __array_ufunc__ = None  # NumPy's operators return NotImplemented, so Python asks this class

    def __init__(self, op: str, inputs: tuple["LazyTensor", ...] = (), content: str | float | None = None) -> None:
        """`content`: the name of a Placeholder, the number of a Const. These arguments are a proposal: change them."""
        self._op, self._inputs, self._content = op, inputs, content

    def _record(self, op: str, left: object, right: object) -> "LazyTensor":
        sides = []
        for side in (left, right):
            if isinstance(side, int | float) and op != "MatMul":
                side = LazyTensor("Const", content=float(side))
            if not isinstance(side, LazyTensor):
                return NotImplemented
            sides.append(side)
        return LazyTensor(op, tuple(sides))

    def _order(self) -> list["LazyTensor"]:
        """This tensor and all that it depends on, each once, inputs before their readers."""
        found: dict[int, LazyTensor] = {}

        def visit(tensor: LazyTensor) -> None:
            if id(tensor) not in found:
                for read in tensor._inputs:
                    visit(read)
                found[id(tensor)] = tensor

        visit(self)
        return list(found.values())

    def __add__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", self, other)

    def __radd__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", other, self)

    def __sub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", self, other)

    def __rsub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", other, self)

    def __mul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", self, other)

    def __rmul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", other, self)

    def __matmul__(self, other: object) -> "LazyTensor":
        return self._record("MatMul", self, other)

    def __neg__(self) -> "LazyTensor":
        return LazyTensor("Neg", (self,))

    def graph(self) -> GraphDef:
        """The nodes that this tensor depends on, itself included, each once, inputs before their readers."""
        order = self._order()
        taken = {tensor._content for tensor in order if tensor._op == "Placeholder"}
        free = (name for name in (f"n{number}" for number in range(len(order) + len(taken))) if name not in taken)
        names: dict[int, str] = {}
        graph = GraphDef()
        for tensor in order:
            name = names[id(tensor)] = tensor._content if tensor._op == "Placeholder" else next(free)
            if tensor._op == "Placeholder":
                graph.node.append(input_node(name))
            elif tensor._op == "Const":
                graph.node.append(number_node(name, tensor._content))
            else:
                graph.node.append(op_node(name, tensor._op, [names[id(read)] for read in tensor._inputs]))
        return graph

    def run(self, kernels: dict[str, Callable[..., np.ndarray]], /, **inputs: np.ndarray) -> np.ndarray:
        """Compute this tensor from the named inputs, each node that it needs once.

        Raises:
            KeyError: an input that is needed is missing; the argument is its name.
        """
        values: dict[int, np.ndarray] = {}
        for tensor in self._order():
            if tensor._op == "Placeholder":
                value = inputs.get(tensor._content, np.float32(0))
            elif tensor._op == "Const":
                value = np.float32(tensor._content)
            else:
                value = kernels[tensor._op](*[values[id(read)] for read in tensor._inputs])
            values[id(tensor)] = value
        return values[id(self)]


def lazy(name: str) -> LazyTensor:
    """A named input."""
    return LazyTensor("Placeholder", content=name)


# %% wrong="lazy-tensor" why="all inputs of the call are demanded, needed or not"
class LazyTensor:
    """A tensor that remembers how it is computed and has no value."""

    __array_ufunc__ = None  # NumPy's operators return NotImplemented, so Python asks this class

    def __init__(self, op: str, inputs: tuple["LazyTensor", ...] = (), content: str | float | None = None) -> None:
        """`content`: the name of a Placeholder, the number of a Const. These arguments are a proposal: change them."""
        self._op, self._inputs, self._content = op, inputs, content

    def _record(self, op: str, left: object, right: object) -> "LazyTensor":
        sides = []
        for side in (left, right):
            if isinstance(side, int | float) and op != "MatMul":
                side = LazyTensor("Const", content=float(side))
            if not isinstance(side, LazyTensor):
                return NotImplemented
            sides.append(side)
        return LazyTensor(op, tuple(sides))

    def _order(self) -> list["LazyTensor"]:
        """This tensor and all that it depends on, each once, inputs before their readers."""
        found: dict[int, LazyTensor] = {}

        def visit(tensor: LazyTensor) -> None:
            if id(tensor) not in found:
                for read in tensor._inputs:
                    visit(read)
                found[id(tensor)] = tensor

        visit(self)
        return list(found.values())

    def __add__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", self, other)

    def __radd__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", other, self)

    def __sub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", self, other)

    def __rsub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", other, self)

    def __mul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", self, other)

    def __rmul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", other, self)

    def __matmul__(self, other: object) -> "LazyTensor":
        return self._record("MatMul", self, other)

    def __neg__(self) -> "LazyTensor":
        return LazyTensor("Neg", (self,))

    def graph(self) -> GraphDef:
        """The nodes that this tensor depends on, itself included, each once, inputs before their readers."""
        order = self._order()
        taken = {tensor._content for tensor in order if tensor._op == "Placeholder"}
        free = (name for name in (f"n{number}" for number in range(len(order) + len(taken))) if name not in taken)
        names: dict[int, str] = {}
        graph = GraphDef()
        for tensor in order:
            name = names[id(tensor)] = tensor._content if tensor._op == "Placeholder" else next(free)
            if tensor._op == "Placeholder":
                graph.node.append(input_node(name))
            elif tensor._op == "Const":
                graph.node.append(number_node(name, tensor._content))
            else:
                graph.node.append(op_node(name, tensor._op, [names[id(read)] for read in tensor._inputs]))
        return graph

    def run(self, kernels: dict[str, Callable[..., np.ndarray]], /, **inputs: np.ndarray) -> np.ndarray:
        """Compute this tensor from the named inputs, each node that it needs once.

        Raises:
            KeyError: an input that is needed is missing; the argument is its name.
        """
        needed = {tensor._content for tensor in self._order() if tensor._op == "Placeholder"}
        if set(inputs) != needed:
            raise KeyError(*(set(inputs) ^ needed))
        values: dict[int, np.ndarray] = {}
        for tensor in self._order():
            if tensor._op == "Placeholder":
                value = inputs[tensor._content]
            elif tensor._op == "Const":
                value = np.float32(tensor._content)
            else:
                value = kernels[tensor._op](*[values[id(read)] for read in tensor._inputs])
            values[id(tensor)] = value
        return values[id(self)]


def lazy(name: str) -> LazyTensor:
    """A named input."""
    return LazyTensor("Placeholder", content=name)


# %% wrong="lazy-tensor" why="equal subexpressions are merged into one node"
class LazyTensor:
    """A tensor that remembers how it is computed and has no value."""

    __array_ufunc__ = None  # NumPy's operators return NotImplemented, so Python asks this class

    def __init__(self, op: str, inputs: tuple["LazyTensor", ...] = (), content: str | float | None = None) -> None:
        """`content`: the name of a Placeholder, the number of a Const. These arguments are a proposal: change them."""
        self._op, self._inputs, self._content = op, inputs, content

    def _record(self, op: str, left: object, right: object) -> "LazyTensor":
        sides = []
        for side in (left, right):
            if isinstance(side, int | float) and op != "MatMul":
                side = LazyTensor("Const", content=float(side))
            if not isinstance(side, LazyTensor):
                return NotImplemented
            sides.append(side)
        return LazyTensor.__dict__["_merged"].setdefault((op, *map(id, sides)), LazyTensor(op, tuple(sides)))

    _merged: dict = {}

    def _order(self) -> list["LazyTensor"]:
        """This tensor and all that it depends on, each once, inputs before their readers."""
        found: dict[int, LazyTensor] = {}

        def visit(tensor: LazyTensor) -> None:
            if id(tensor) not in found:
                for read in tensor._inputs:
                    visit(read)
                found[id(tensor)] = tensor

        visit(self)
        return list(found.values())

    def __add__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", self, other)

    def __radd__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", other, self)

    def __sub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", self, other)

    def __rsub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", other, self)

    def __mul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", self, other)

    def __rmul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", other, self)

    def __matmul__(self, other: object) -> "LazyTensor":
        return self._record("MatMul", self, other)

    def __neg__(self) -> "LazyTensor":
        return LazyTensor("Neg", (self,))

    def graph(self) -> GraphDef:
        """The nodes that this tensor depends on, itself included, each once, inputs before their readers."""
        order = self._order()
        taken = {tensor._content for tensor in order if tensor._op == "Placeholder"}
        free = (name for name in (f"n{number}" for number in range(len(order) + len(taken))) if name not in taken)
        names: dict[int, str] = {}
        graph = GraphDef()
        for tensor in order:
            name = names[id(tensor)] = tensor._content if tensor._op == "Placeholder" else next(free)
            if tensor._op == "Placeholder":
                graph.node.append(input_node(name))
            elif tensor._op == "Const":
                graph.node.append(number_node(name, tensor._content))
            else:
                graph.node.append(op_node(name, tensor._op, [names[id(read)] for read in tensor._inputs]))
        return graph

    def run(self, kernels: dict[str, Callable[..., np.ndarray]], /, **inputs: np.ndarray) -> np.ndarray:
        """Compute this tensor from the named inputs, each node that it needs once.

        Raises:
            KeyError: an input that is needed is missing; the argument is its name.
        """
        values: dict[int, np.ndarray] = {}
        for tensor in self._order():
            if tensor._op == "Placeholder":
                value = inputs[tensor._content]
            elif tensor._op == "Const":
                value = np.float32(tensor._content)
            else:
                value = kernels[tensor._op](*[values[id(read)] for read in tensor._inputs])
            values[id(tensor)] = value
        return values[id(self)]


def lazy(name: str) -> LazyTensor:
    """A named input."""
    return LazyTensor("Placeholder", content=name)


# %% wrong="lazy-tensor" why="a text is recorded as if it were a number"
class LazyTensor:
    """A tensor that remembers how it is computed and has no value."""

    __array_ufunc__ = None  # NumPy's operators return NotImplemented, so Python asks this class

    def __init__(self, op: str, inputs: tuple["LazyTensor", ...] = (), content: str | float | None = None) -> None:
        """`content`: the name of a Placeholder, the number of a Const. These arguments are a proposal: change them."""
        self._op, self._inputs, self._content = op, inputs, content

    def _record(self, op: str, left: object, right: object) -> "LazyTensor":
        sides = []
        for side in (left, right):
            if isinstance(side, int | float) and op != "MatMul":
                side = LazyTensor("Const", content=float(side))
            if not isinstance(side, LazyTensor):
                side = LazyTensor("Const", content=0.0)
            sides.append(side)
        return LazyTensor(op, tuple(sides))

    def _order(self) -> list["LazyTensor"]:
        """This tensor and all that it depends on, each once, inputs before their readers."""
        found: dict[int, LazyTensor] = {}

        def visit(tensor: LazyTensor) -> None:
            if id(tensor) not in found:
                for read in tensor._inputs:
                    visit(read)
                found[id(tensor)] = tensor

        visit(self)
        return list(found.values())

    def __add__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", self, other)

    def __radd__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", other, self)

    def __sub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", self, other)

    def __rsub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", other, self)

    def __mul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", self, other)

    def __rmul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", other, self)

    def __matmul__(self, other: object) -> "LazyTensor":
        return self._record("MatMul", self, other)

    def __neg__(self) -> "LazyTensor":
        return LazyTensor("Neg", (self,))

    def graph(self) -> GraphDef:
        """The nodes that this tensor depends on, itself included, each once, inputs before their readers."""
        order = self._order()
        taken = {tensor._content for tensor in order if tensor._op == "Placeholder"}
        free = (name for name in (f"n{number}" for number in range(len(order) + len(taken))) if name not in taken)
        names: dict[int, str] = {}
        graph = GraphDef()
        for tensor in order:
            name = names[id(tensor)] = tensor._content if tensor._op == "Placeholder" else next(free)
            if tensor._op == "Placeholder":
                graph.node.append(input_node(name))
            elif tensor._op == "Const":
                graph.node.append(number_node(name, tensor._content))
            else:
                graph.node.append(op_node(name, tensor._op, [names[id(read)] for read in tensor._inputs]))
        return graph

    def run(self, kernels: dict[str, Callable[..., np.ndarray]], /, **inputs: np.ndarray) -> np.ndarray:
        """Compute this tensor from the named inputs, each node that it needs once.

        Raises:
            KeyError: an input that is needed is missing; the argument is its name.
        """
        values: dict[int, np.ndarray] = {}
        for tensor in self._order():
            if tensor._op == "Placeholder":
                value = inputs[tensor._content]
            elif tensor._op == "Const":
                value = np.float32(tensor._content)
            else:
                value = kernels[tensor._op](*[values[id(read)] for read in tensor._inputs])
            values[id(tensor)] = value
        return values[id(self)]


def lazy(name: str) -> LazyTensor:
    """A named input."""
    return LazyTensor("Placeholder", content=name)


# %% wrong="lazy-tensor" why="x @ y is recorded as a product of elements"
class LazyTensor:
    """A tensor that remembers how it is computed and has no value."""

    __array_ufunc__ = None  # NumPy's operators return NotImplemented, so Python asks this class

    def __init__(self, op: str, inputs: tuple["LazyTensor", ...] = (), content: str | float | None = None) -> None:
        """`content`: the name of a Placeholder, the number of a Const. These arguments are a proposal: change them."""
        self._op, self._inputs, self._content = op, inputs, content

    def _record(self, op: str, left: object, right: object) -> "LazyTensor":
        sides = []
        for side in (left, right):
            if isinstance(side, int | float) and op != "MatMul":
                side = LazyTensor("Const", content=float(side))
            if not isinstance(side, LazyTensor):
                return NotImplemented
            sides.append(side)
        return LazyTensor(op, tuple(sides))

    def _order(self) -> list["LazyTensor"]:
        """This tensor and all that it depends on, each once, inputs before their readers."""
        found: dict[int, LazyTensor] = {}

        def visit(tensor: LazyTensor) -> None:
            if id(tensor) not in found:
                for read in tensor._inputs:
                    visit(read)
                found[id(tensor)] = tensor

        visit(self)
        return list(found.values())

    def __add__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", self, other)

    def __radd__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", other, self)

    def __sub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", self, other)

    def __rsub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", other, self)

    def __mul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", self, other)

    def __rmul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", other, self)

    def __matmul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", self, other)

    def __neg__(self) -> "LazyTensor":
        return LazyTensor("Neg", (self,))

    def graph(self) -> GraphDef:
        """The nodes that this tensor depends on, itself included, each once, inputs before their readers."""
        order = self._order()
        taken = {tensor._content for tensor in order if tensor._op == "Placeholder"}
        free = (name for name in (f"n{number}" for number in range(len(order) + len(taken))) if name not in taken)
        names: dict[int, str] = {}
        graph = GraphDef()
        for tensor in order:
            name = names[id(tensor)] = tensor._content if tensor._op == "Placeholder" else next(free)
            if tensor._op == "Placeholder":
                graph.node.append(input_node(name))
            elif tensor._op == "Const":
                graph.node.append(number_node(name, tensor._content))
            else:
                graph.node.append(op_node(name, tensor._op, [names[id(read)] for read in tensor._inputs]))
        return graph

    def run(self, kernels: dict[str, Callable[..., np.ndarray]], /, **inputs: np.ndarray) -> np.ndarray:
        """Compute this tensor from the named inputs, each node that it needs once.

        Raises:
            KeyError: an input that is needed is missing; the argument is its name.
        """
        values: dict[int, np.ndarray] = {}
        for tensor in self._order():
            if tensor._op == "Placeholder":
                value = inputs[tensor._content]
            elif tensor._op == "Const":
                value = np.float32(tensor._content)
            else:
                value = kernels[tensor._op](*[values[id(read)] for read in tensor._inputs])
            values[id(tensor)] = value
        return values[id(self)]


def lazy(name: str) -> LazyTensor:
    """A named input."""
    return LazyTensor("Placeholder", content=name)


# %% wrong="lazy-tensor" why="always answers the visible expression"
class LazyTensor:
    """A tensor that remembers how it is computed and has no value."""

    __array_ufunc__ = None  # NumPy's operators return NotImplemented, so Python asks this class

    def __init__(self, op: str, inputs: tuple["LazyTensor", ...] = (), content: str | float | None = None) -> None:
        """`content`: the name of a Placeholder, the number of a Const. These arguments are a proposal: change them."""
        self._op, self._inputs, self._content = op, inputs, content

    def _record(self, op: str, left: object, right: object) -> "LazyTensor":
        sides = []
        for side in (left, right):
            if isinstance(side, int | float) and op != "MatMul":
                side = LazyTensor("Const", content=float(side))
            if not isinstance(side, LazyTensor):
                return NotImplemented
            sides.append(side)
        return LazyTensor(op, tuple(sides))

    def _order(self) -> list["LazyTensor"]:
        """This tensor and all that it depends on, each once, inputs before their readers."""
        found: dict[int, LazyTensor] = {}

        def visit(tensor: LazyTensor) -> None:
            if id(tensor) not in found:
                for read in tensor._inputs:
                    visit(read)
                found[id(tensor)] = tensor

        visit(self)
        return list(found.values())

    def __add__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", self, other)

    def __radd__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", other, self)

    def __sub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", self, other)

    def __rsub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", other, self)

    def __mul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", self, other)

    def __rmul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", other, self)

    def __matmul__(self, other: object) -> "LazyTensor":
        return self._record("MatMul", self, other)

    def __neg__(self) -> "LazyTensor":
        return LazyTensor("Neg", (self,))

    def graph(self) -> GraphDef:
        """The nodes that this tensor depends on, itself included, each once, inputs before their readers."""
        order = self._order()
        taken = {tensor._content for tensor in order if tensor._op == "Placeholder"}
        free = (name for name in (f"n{number}" for number in range(len(order) + len(taken))) if name not in taken)
        names: dict[int, str] = {}
        graph = GraphDef()
        for tensor in order:
            name = names[id(tensor)] = tensor._content if tensor._op == "Placeholder" else next(free)
            if tensor._op == "Placeholder":
                graph.node.append(input_node(name))
            elif tensor._op == "Const":
                graph.node.append(number_node(name, tensor._content))
            else:
                graph.node.append(op_node(name, tensor._op, [names[id(read)] for read in tensor._inputs]))
        return graph

    def run(self, kernels: dict[str, Callable[..., np.ndarray]], /, **inputs: np.ndarray) -> np.ndarray:
        """Compute this tensor from the named inputs, each node that it needs once.

        Raises:
            KeyError: an input that is needed is missing; the argument is its name.
        """
        x = inputs["x"]
        return kernels["AddV2"](kernels["Mul"](x, x), np.float32(2))


def lazy(name: str) -> LazyTensor:
    """A named input."""
    return LazyTensor("Placeholder", content=name)


# %% wrong="lazy-tensor" why="a constant reaches the kernels as a Python float"
class LazyTensor:
    """A tensor that remembers how it is computed and has no value."""

    __array_ufunc__ = None  # NumPy's operators return NotImplemented, so Python asks this class

    def __init__(self, op: str, inputs: tuple["LazyTensor", ...] = (), content: str | float | None = None) -> None:
        """`content`: the name of a Placeholder, the number of a Const. These arguments are a proposal: change them."""
        self._op, self._inputs, self._content = op, inputs, content

    def _record(self, op: str, left: object, right: object) -> "LazyTensor":
        sides = []
        for side in (left, right):
            if isinstance(side, int | float) and op != "MatMul":
                side = LazyTensor("Const", content=float(side))
            if not isinstance(side, LazyTensor):
                return NotImplemented
            sides.append(side)
        return LazyTensor(op, tuple(sides))

    def _order(self) -> list["LazyTensor"]:
        """This tensor and all that it depends on, each once, inputs before their readers."""
        found: dict[int, LazyTensor] = {}

        def visit(tensor: LazyTensor) -> None:
            if id(tensor) not in found:
                for read in tensor._inputs:
                    visit(read)
                found[id(tensor)] = tensor

        visit(self)
        return list(found.values())

    def __add__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", self, other)

    def __radd__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", other, self)

    def __sub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", self, other)

    def __rsub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", other, self)

    def __mul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", self, other)

    def __rmul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", other, self)

    def __matmul__(self, other: object) -> "LazyTensor":
        return self._record("MatMul", self, other)

    def __neg__(self) -> "LazyTensor":
        return LazyTensor("Neg", (self,))

    def graph(self) -> GraphDef:
        """The nodes that this tensor depends on, itself included, each once, inputs before their readers."""
        order = self._order()
        taken = {tensor._content for tensor in order if tensor._op == "Placeholder"}
        free = (name for name in (f"n{number}" for number in range(len(order) + len(taken))) if name not in taken)
        names: dict[int, str] = {}
        graph = GraphDef()
        for tensor in order:
            name = names[id(tensor)] = tensor._content if tensor._op == "Placeholder" else next(free)
            if tensor._op == "Placeholder":
                graph.node.append(input_node(name))
            elif tensor._op == "Const":
                graph.node.append(number_node(name, tensor._content))
            else:
                graph.node.append(op_node(name, tensor._op, [names[id(read)] for read in tensor._inputs]))
        return graph

    def run(self, kernels: dict[str, Callable[..., np.ndarray]], /, **inputs: np.ndarray) -> np.ndarray:
        """Compute this tensor from the named inputs, each node that it needs once.

        Raises:
            KeyError: an input that is needed is missing; the argument is its name.
        """
        values: dict[int, np.ndarray] = {}
        for tensor in self._order():
            if tensor._op == "Placeholder":
                value = inputs[tensor._content]
            elif tensor._op == "Const":
                value = tensor._content
            else:
                value = kernels[tensor._op](*[values[id(read)] for read in tensor._inputs])
            values[id(tensor)] = value
        return values[id(self)]


def lazy(name: str) -> LazyTensor:
    """A named input."""
    return LazyTensor("Placeholder", content=name)


# %% wrong="lazy-tensor" why="NumPy computes, the kernels are only called along the way"
class LazyTensor:
    """A tensor that remembers how it is computed and has no value."""

    __array_ufunc__ = None  # NumPy's operators return NotImplemented, so Python asks this class

    def __init__(self, op: str, inputs: tuple["LazyTensor", ...] = (), content: str | float | None = None) -> None:
        """`content`: the name of a Placeholder, the number of a Const. These arguments are a proposal: change them."""
        self._op, self._inputs, self._content = op, inputs, content

    def _record(self, op: str, left: object, right: object) -> "LazyTensor":
        sides = []
        for side in (left, right):
            if isinstance(side, int | float) and op != "MatMul":
                side = LazyTensor("Const", content=float(side))
            if not isinstance(side, LazyTensor):
                return NotImplemented
            sides.append(side)
        return LazyTensor(op, tuple(sides))

    def _order(self) -> list["LazyTensor"]:
        """This tensor and all that it depends on, each once, inputs before their readers."""
        found: dict[int, LazyTensor] = {}

        def visit(tensor: LazyTensor) -> None:
            if id(tensor) not in found:
                for read in tensor._inputs:
                    visit(read)
                found[id(tensor)] = tensor

        visit(self)
        return list(found.values())

    def __add__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", self, other)

    def __radd__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", other, self)

    def __sub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", self, other)

    def __rsub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", other, self)

    def __mul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", self, other)

    def __rmul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", other, self)

    def __matmul__(self, other: object) -> "LazyTensor":
        return self._record("MatMul", self, other)

    def __neg__(self) -> "LazyTensor":
        return LazyTensor("Neg", (self,))

    def graph(self) -> GraphDef:
        """The nodes that this tensor depends on, itself included, each once, inputs before their readers."""
        order = self._order()
        taken = {tensor._content for tensor in order if tensor._op == "Placeholder"}
        free = (name for name in (f"n{number}" for number in range(len(order) + len(taken))) if name not in taken)
        names: dict[int, str] = {}
        graph = GraphDef()
        for tensor in order:
            name = names[id(tensor)] = tensor._content if tensor._op == "Placeholder" else next(free)
            if tensor._op == "Placeholder":
                graph.node.append(input_node(name))
            elif tensor._op == "Const":
                graph.node.append(number_node(name, tensor._content))
            else:
                graph.node.append(op_node(name, tensor._op, [names[id(read)] for read in tensor._inputs]))
        return graph

    def run(self, kernels: dict[str, Callable[..., np.ndarray]], /, **inputs: np.ndarray) -> np.ndarray:
        """Compute this tensor from the named inputs, each node that it needs once.

        Raises:
            KeyError: an input that is needed is missing; the argument is its name.
        """
        values: dict[int, np.ndarray] = {}
        for tensor in self._order():
            if tensor._op == "Placeholder":
                value = inputs[tensor._content]
            elif tensor._op == "Const":
                value = np.float32(tensor._content)
            else:
                numpy_functions = {
                    "AddV2": np.add,
                    "Sub": np.subtract,
                    "Mul": np.multiply,
                    "Neg": np.negative,
                    "MatMul": np.matmul,
                }
                arrays = [values[id(read)] for read in tensor._inputs]
                kernels[tensor._op](*arrays)
                value = numpy_functions[tensor._op](*arrays)
            values[id(tensor)] = value
        return values[id(self)]


def lazy(name: str) -> LazyTensor:
    """A named input."""
    return LazyTensor("Placeholder", content=name)


# %% wrong="lazy-tensor" why="an input called kernels clashes with the argument"
class LazyTensor:
    """A tensor that remembers how it is computed and has no value."""

    __array_ufunc__ = None  # NumPy's operators return NotImplemented, so Python asks this class

    def __init__(self, op: str, inputs: tuple["LazyTensor", ...] = (), content: str | float | None = None) -> None:
        """`content`: the name of a Placeholder, the number of a Const. These arguments are a proposal: change them."""
        self._op, self._inputs, self._content = op, inputs, content

    def _record(self, op: str, left: object, right: object) -> "LazyTensor":
        sides = []
        for side in (left, right):
            if isinstance(side, int | float) and op != "MatMul":
                side = LazyTensor("Const", content=float(side))
            if not isinstance(side, LazyTensor):
                return NotImplemented
            sides.append(side)
        return LazyTensor(op, tuple(sides))

    def _order(self) -> list["LazyTensor"]:
        """This tensor and all that it depends on, each once, inputs before their readers."""
        found: dict[int, LazyTensor] = {}

        def visit(tensor: LazyTensor) -> None:
            if id(tensor) not in found:
                for read in tensor._inputs:
                    visit(read)
                found[id(tensor)] = tensor

        visit(self)
        return list(found.values())

    def __add__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", self, other)

    def __radd__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", other, self)

    def __sub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", self, other)

    def __rsub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", other, self)

    def __mul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", self, other)

    def __rmul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", other, self)

    def __matmul__(self, other: object) -> "LazyTensor":
        return self._record("MatMul", self, other)

    def __neg__(self) -> "LazyTensor":
        return LazyTensor("Neg", (self,))

    def graph(self) -> GraphDef:
        """The nodes that this tensor depends on, itself included, each once, inputs before their readers."""
        order = self._order()
        taken = {tensor._content for tensor in order if tensor._op == "Placeholder"}
        free = (name for name in (f"n{number}" for number in range(len(order) + len(taken))) if name not in taken)
        names: dict[int, str] = {}
        graph = GraphDef()
        for tensor in order:
            name = names[id(tensor)] = tensor._content if tensor._op == "Placeholder" else next(free)
            if tensor._op == "Placeholder":
                graph.node.append(input_node(name))
            elif tensor._op == "Const":
                graph.node.append(number_node(name, tensor._content))
            else:
                graph.node.append(op_node(name, tensor._op, [names[id(read)] for read in tensor._inputs]))
        return graph

    def run(self, kernels: dict[str, Callable[..., np.ndarray]], **inputs: np.ndarray) -> np.ndarray:
        """Compute this tensor from the named inputs, each node that it needs once.

        Raises:
            KeyError: an input that is needed is missing; the argument is its name.
        """
        values: dict[int, np.ndarray] = {}
        for tensor in self._order():
            if tensor._op == "Placeholder":
                value = inputs[tensor._content]
            elif tensor._op == "Const":
                value = np.float32(tensor._content)
            else:
                value = kernels[tensor._op](*[values[id(read)] for read in tensor._inputs])
            values[id(tensor)] = value
        return values[id(self)]


def lazy(name: str) -> LazyTensor:
    """A named input."""
    return LazyTensor("Placeholder", content=name)


# %% wrong="lazy-tensor" why="NumPy answers array * x element by element"
class LazyTensor:
    """A tensor that remembers how it is computed and has no value."""

    def __init__(self, op: str, inputs: tuple["LazyTensor", ...] = (), content: str | float | None = None) -> None:
        """`content`: the name of a Placeholder, the number of a Const. These arguments are a proposal: change them."""
        self._op, self._inputs, self._content = op, inputs, content

    def _record(self, op: str, left: object, right: object) -> "LazyTensor":
        sides = []
        for side in (left, right):
            if isinstance(side, int | float) and op != "MatMul":
                side = LazyTensor("Const", content=float(side))
            if not isinstance(side, LazyTensor):
                return NotImplemented
            sides.append(side)
        return LazyTensor(op, tuple(sides))

    def _order(self) -> list["LazyTensor"]:
        """This tensor and all that it depends on, each once, inputs before their readers."""
        found: dict[int, LazyTensor] = {}

        def visit(tensor: LazyTensor) -> None:
            if id(tensor) not in found:
                for read in tensor._inputs:
                    visit(read)
                found[id(tensor)] = tensor

        visit(self)
        return list(found.values())

    def __add__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", self, other)

    def __radd__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", other, self)

    def __sub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", self, other)

    def __rsub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", other, self)

    def __mul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", self, other)

    def __rmul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", other, self)

    def __matmul__(self, other: object) -> "LazyTensor":
        return self._record("MatMul", self, other)

    def __neg__(self) -> "LazyTensor":
        return LazyTensor("Neg", (self,))

    def graph(self) -> GraphDef:
        """The nodes that this tensor depends on, itself included, each once, inputs before their readers."""
        order = self._order()
        taken = {tensor._content for tensor in order if tensor._op == "Placeholder"}
        free = (name for name in (f"n{number}" for number in range(len(order) + len(taken))) if name not in taken)
        names: dict[int, str] = {}
        graph = GraphDef()
        for tensor in order:
            name = names[id(tensor)] = tensor._content if tensor._op == "Placeholder" else next(free)
            if tensor._op == "Placeholder":
                graph.node.append(input_node(name))
            elif tensor._op == "Const":
                graph.node.append(number_node(name, tensor._content))
            else:
                graph.node.append(op_node(name, tensor._op, [names[id(read)] for read in tensor._inputs]))
        return graph

    def run(self, kernels: dict[str, Callable[..., np.ndarray]], /, **inputs: np.ndarray) -> np.ndarray:
        """Compute this tensor from the named inputs, each node that it needs once.

        Raises:
            KeyError: an input that is needed is missing; the argument is its name.
        """
        values: dict[int, np.ndarray] = {}
        for tensor in self._order():
            if tensor._op == "Placeholder":
                value = inputs[tensor._content]
            elif tensor._op == "Const":
                value = np.float32(tensor._content)
            else:
                value = kernels[tensor._op](*[values[id(read)] for read in tensor._inputs])
            values[id(tensor)] = value
        return values[id(self)]


def lazy(name: str) -> LazyTensor:
    """A named input."""
    return LazyTensor("Placeholder", content=name)


# %% wrong="lazy-tensor" why="x @ 2 is recorded like x * 2"
class LazyTensor:
    """A tensor that remembers how it is computed and has no value."""

    __array_ufunc__ = None  # NumPy's operators return NotImplemented, so Python asks this class

    def __init__(self, op: str, inputs: tuple["LazyTensor", ...] = (), content: str | float | None = None) -> None:
        """`content`: the name of a Placeholder, the number of a Const. These arguments are a proposal: change them."""
        self._op, self._inputs, self._content = op, inputs, content

    def _record(self, op: str, left: object, right: object) -> "LazyTensor":
        sides = []
        for side in (left, right):
            if isinstance(side, int | float):
                side = LazyTensor("Const", content=float(side))
            if not isinstance(side, LazyTensor):
                return NotImplemented
            sides.append(side)
        return LazyTensor(op, tuple(sides))

    def _order(self) -> list["LazyTensor"]:
        """This tensor and all that it depends on, each once, inputs before their readers."""
        found: dict[int, LazyTensor] = {}

        def visit(tensor: LazyTensor) -> None:
            if id(tensor) not in found:
                for read in tensor._inputs:
                    visit(read)
                found[id(tensor)] = tensor

        visit(self)
        return list(found.values())

    def __add__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", self, other)

    def __radd__(self, other: object) -> "LazyTensor":
        return self._record("AddV2", other, self)

    def __sub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", self, other)

    def __rsub__(self, other: object) -> "LazyTensor":
        return self._record("Sub", other, self)

    def __mul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", self, other)

    def __rmul__(self, other: object) -> "LazyTensor":
        return self._record("Mul", other, self)

    def __matmul__(self, other: object) -> "LazyTensor":
        return self._record("MatMul", self, other)

    def __neg__(self) -> "LazyTensor":
        return LazyTensor("Neg", (self,))

    def graph(self) -> GraphDef:
        """The nodes that this tensor depends on, itself included, each once, inputs before their readers."""
        order = self._order()
        taken = {tensor._content for tensor in order if tensor._op == "Placeholder"}
        free = (name for name in (f"n{number}" for number in range(len(order) + len(taken))) if name not in taken)
        names: dict[int, str] = {}
        graph = GraphDef()
        for tensor in order:
            name = names[id(tensor)] = tensor._content if tensor._op == "Placeholder" else next(free)
            if tensor._op == "Placeholder":
                graph.node.append(input_node(name))
            elif tensor._op == "Const":
                graph.node.append(number_node(name, tensor._content))
            else:
                graph.node.append(op_node(name, tensor._op, [names[id(read)] for read in tensor._inputs]))
        return graph

    def run(self, kernels: dict[str, Callable[..., np.ndarray]], /, **inputs: np.ndarray) -> np.ndarray:
        """Compute this tensor from the named inputs, each node that it needs once.

        Raises:
            KeyError: an input that is needed is missing; the argument is its name.
        """
        values: dict[int, np.ndarray] = {}
        for tensor in self._order():
            if tensor._op == "Placeholder":
                value = inputs[tensor._content]
            elif tensor._op == "Const":
                value = np.float32(tensor._content)
            else:
                value = kernels[tensor._op](*[values[id(read)] for read in tensor._inputs])
            values[id(tensor)] = value
        return values[id(self)]


def lazy(name: str) -> LazyTensor:
    """A named input."""
    return LazyTensor("Placeholder", content=name)


# %% right="lazy-tensor" why="one list of nodes with indices for all tensors of an expression, an explicit stack"
class LazyTensor:
    """A tensor that remembers how it is computed and has no value."""

    __array_ufunc__ = None  # NumPy's operators return NotImplemented, so Python asks this class

    made: list["LazyTensor"] = []

    def __init__(self, kind, detail, reads=()):
        self.kind, self.detail, self.reads = kind, detail, list(reads)
        self.index = len(LazyTensor.made)
        LazyTensor.made.append(self)

    @staticmethod
    def lifted(x):
        if type(x) in (int, float):
            return LazyTensor("Const", x)
        if isinstance(x, LazyTensor):
            return x
        raise TypeError(f"{x!r} is neither a LazyTensor nor a number")

    @classmethod
    def two(cls, kind, a, b):
        if kind == "MatMul" and not isinstance(b, LazyTensor):
            raise TypeError(f"{b!r} is no LazyTensor")
        return cls(kind, None, [cls.lifted(a).index, cls.lifted(b).index])

    def __add__(self, other):
        return self.two("AddV2", self, other)

    def __radd__(self, other):
        return self.two("AddV2", other, self)

    def __sub__(self, other):
        return self.two("Sub", self, other)

    def __rsub__(self, other):
        return self.two("Sub", other, self)

    def __mul__(self, other):
        return self.two("Mul", self, other)

    def __rmul__(self, other):
        return self.two("Mul", other, self)

    def __matmul__(self, other):
        return self.two("MatMul", self, other)

    def __neg__(self):
        return LazyTensor("Neg", None, [self.index])

    def needed(self):
        """Indices grow from inputs to readers, so the sorted indices of what is reachable are a valid order."""
        reached, stack = set(), [self.index]
        while stack:
            index = stack.pop()
            if index not in reached:
                reached.add(index)
                stack += LazyTensor.made[index].reads
        return [LazyTensor.made[index] for index in sorted(reached)]

    def graph(self):
        nodes = self.needed()
        inputs = {node.detail for node in nodes if node.kind == "Placeholder"}
        mark = "t"
        while any(name.startswith(mark) for name in inputs):
            mark += "t"
        names = {node.index: node.detail if node.kind == "Placeholder" else f"{mark}{node.index}" for node in nodes}
        made = []
        for node in nodes:
            name = names[node.index]
            if node.kind == "Placeholder":
                made.append(input_node(name))
            elif node.kind == "Const":
                made.append(number_node(name, node.detail))
            else:
                made.append(op_node(name, node.kind, [names[index] for index in node.reads]))
        return GraphDef(node=made)

    def run(self, kernels, /, **inputs):
        memo = {}
        for node in self.needed():
            if node.kind == "Placeholder":
                if node.detail not in inputs:
                    raise KeyError(f"input {node.detail} is missing")
                memo[node.index] = inputs[node.detail]
            elif node.kind == "Const":
                memo[node.index] = np.array(node.detail, np.float32)
            else:
                memo[node.index] = kernels[node.kind](*(memo[index] for index in node.reads))
        return memo[self.index]


def lazy(name):
    return LazyTensor("Placeholder", name)


# %% right="lazy-tensor" why="a GraphDef carried along by each tensor, and closures for the values"
class LazyTensor:
    """A tensor that remembers how it is computed and has no value."""

    __array_ufunc__ = None  # NumPy's operators return NotImplemented, so Python asks this class

    def __init__(self, compute, node, parts=()):
        self.compute, self.node, self.parts = compute, node, parts

    def __neg__(self):
        return operation("Neg", self)

    def __add__(self, other):
        return operation("AddV2", self, other)

    def __radd__(self, other):
        return operation("AddV2", other, self)

    def __sub__(self, other):
        return operation("Sub", self, other)

    def __rsub__(self, other):
        return operation("Sub", other, self)

    def __mul__(self, other):
        return operation("Mul", self, other)

    def __rmul__(self, other):
        return operation("Mul", other, self)

    def __matmul__(self, other):
        return operation("MatMul", self, other)

    def walk(self, seen):
        if self not in seen:
            for part in self.parts:
                yield from part.walk(seen)
            seen.add(self)
            yield self

    def graph(self):
        graph, names = GraphDef(), {}
        tensors = list(self.walk(set()))
        longest = max(len(tensor.node("", []).name) for tensor in tensors)
        for number, tensor in enumerate(tensors):
            free = "free" + "_" * longest + str(number)
            node = tensor.node(free, [names[part] for part in tensor.parts])
            names[tensor] = node.name
            graph.node.append(node)
        return graph

    def run(self, kernels, /, **inputs):
        values = {}
        for tensor in self.walk(set()):
            values[tensor] = tensor.compute(kernels, inputs, [values[part] for part in tensor.parts])
        return values[self]


def operation(op, *operands):
    parts = []
    for operand in operands:
        if isinstance(operand, float | int) and op != "MatMul":
            parts.append(number(operand))
        elif isinstance(operand, LazyTensor):
            parts.append(operand)
        else:
            return NotImplemented
    return LazyTensor(
        lambda kernels, inputs, values: kernels[op](*values), lambda name, reads: op_node(name, op, reads), tuple(parts)
    )


def number(value):
    return LazyTensor(lambda kernels, inputs, values: np.float32(value), lambda name, reads: number_node(name, value))


def lazy(name):
    return LazyTensor(lambda kernels, inputs, values: inputs[name], lambda free, reads: input_node(name))


# %% right="lazy-tensor" why="a dataclass, and the order from graphlib"
from dataclasses import dataclass, field
from graphlib import TopologicalSorter


@dataclass(eq=False, frozen=True)
class LazyTensor:
    """A tensor that remembers how it is computed and has no value."""

    op: str
    operands: tuple["LazyTensor", ...] = ()
    name: str = ""
    number: np.ndarray = field(default_factory=lambda: np.zeros((), np.float32))

    __array_ufunc__ = None

    def __add__(self, other):
        return record("AddV2", self, other)

    def __radd__(self, other):
        return record("AddV2", other, self)

    def __sub__(self, other):
        return record("Sub", self, other)

    def __rsub__(self, other):
        return record("Sub", other, self)

    def __mul__(self, other):
        return record("Mul", self, other)

    def __rmul__(self, other):
        return record("Mul", other, self)

    def __matmul__(self, other):
        if not isinstance(other, LazyTensor):
            raise TypeError("@ needs two LazyTensors")
        return record("MatMul", self, other)

    def __neg__(self):
        return record("Neg", self)

    def order(self):
        below, to_do = {}, [self]
        while to_do:
            tensor = to_do.pop()
            if tensor not in below:
                below[tensor] = tensor.operands
                to_do.extend(tensor.operands)
        return TopologicalSorter(below).static_order()

    def graph(self):
        order = list(self.order())
        inputs = {tensor.name for tensor in order if tensor.op == "Placeholder"}
        names, counts, graph = {}, Counter(), GraphDef()
        for tensor in order:
            name = tensor.name
            while not name or (name in inputs and tensor.op != "Placeholder"):
                counts[tensor.op] += 1
                name = f"{tensor.op}_{counts[tensor.op]}"
            names[tensor] = name
            if tensor.op == "Placeholder":
                graph.node.add().CopyFrom(input_node(name))
            elif tensor.op == "Const":
                graph.node.add().CopyFrom(number_node(name, tensor.number))
            else:
                graph.node.add().CopyFrom(op_node(name, tensor.op, [f"{names[one]}:0" for one in tensor.operands]))
        return graph

    def run(self, kernels, /, **inputs):
        done = {}
        for tensor in self.order():
            match tensor.op:
                case "Placeholder":
                    done[tensor] = inputs[tensor.name]
                case "Const":
                    done[tensor] = tensor.number
                case op:
                    done[tensor] = kernels[op](*map(done.get, tensor.operands))
        return done[self]


def record(op, *sides):
    operands = []
    for side in sides:
        match side:
            case LazyTensor():
                operands.append(side)
            case int() | float():
                operands.append(LazyTensor("Const", number=np.asarray(side, np.float32)))
            case _:
                return NotImplemented
    return LazyTensor(op, tuple(operands))


def lazy(name):
    return LazyTensor("Placeholder", name=name)


# %% wrong="device-prediction" why="False for an op whose only kernel is for DEFAULT"
answers = {"IdentityN float32": False, "BesselI0 bfloat16": False, "Reciprocal int32": False, "Unique uint16": True}


# %% wrong="device-prediction" why="the list of the op's definition taken for the kernel's"
answers = {"IdentityN float32": True, "BesselI0 bfloat16": True, "Reciprocal int32": True, "Unique uint16": True}


# %% wrong="device-prediction" why="the definition's list taken for the kernel's, for BesselI0"
answers = {"IdentityN float32": True, "BesselI0 bfloat16": True, "Reciprocal int32": False, "Unique uint16": True}


# %% wrong="device-prediction" why="XLA's registration taken for the CPU's"
answers = {"IdentityN float32": True, "BesselI0 bfloat16": False, "Reciprocal int32": True, "Unique uint16": True}


# %% wrong="device-prediction" why="a second constraint taken for one on T"
answers = {"IdentityN float32": True, "BesselI0 bfloat16": False, "Reciprocal int32": False, "Unique uint16": False}


# %% wrong="device-prediction" why="all False"
answers = {"IdentityN float32": False, "BesselI0 bfloat16": False, "Reciprocal int32": False, "Unique uint16": False}


# %% wrong="device-prediction" why="a list instead of a dict"
answers = [True, False, False, True]


# %% wrong="device-prediction" why="numbers instead of bool"
answers = {"IdentityN float32": 1, "BesselI0 bfloat16": 0, "Reciprocal int32": 0, "Unique uint16": 1}


# %% right="device-prediction" why="put together from two lists"
answers = dict.fromkeys(["BesselI0 bfloat16", "Reciprocal int32"], False)
answers |= dict.fromkeys(["IdentityN float32", "Unique uint16"], True)


# %% wrong="find-kernels" why="DEFAULT is forgotten"
def device_types(kernels: KernelList, dtype: int, devices: list[str]) -> list[str]:
    """Those of `devices`, in their order, that have a kernel for a node with `T = dtype` (a number of DataType)."""
    fitting = {
        kernel.device_type
        for kernel in kernels.kernel
        if not kernel.label
        and all(dtype in part.allowed_values.list.type for part in kernel.constraint if part.name == "T")
    }
    return [device for device in devices if device in fitting]


# %% wrong="find-kernels" why="DEFAULT counts for the devices that only compile"
def device_types(kernels: KernelList, dtype: int, devices: list[str]) -> list[str]:
    """Those of `devices`, in their order, that have a kernel for a node with `T = dtype` (a number of DataType)."""
    fitting = {
        kernel.device_type
        for kernel in kernels.kernel
        if not kernel.label
        and all(dtype in part.allowed_values.list.type for part in kernel.constraint if part.name == "T")
    }
    return [device for device in devices if device in fitting or "DEFAULT" in fitting]


# %% wrong="find-kernels" why="constraints of all names are read as T"
def device_types(kernels: KernelList, dtype: int, devices: list[str]) -> list[str]:
    """Those of `devices`, in their order, that have a kernel for a node with `T = dtype` (a number of DataType)."""
    fitting = {
        kernel.device_type
        for kernel in kernels.kernel
        if not kernel.label and all(dtype in part.allowed_values.list.type for part in kernel.constraint)
    }
    return [device for device in devices if device in fitting or ("DEFAULT" in fitting and device not in COMPILE_ONLY)]


# %% wrong="find-kernels" why="labelled kernels are accepted"
def device_types(kernels: KernelList, dtype: int, devices: list[str]) -> list[str]:
    """Those of `devices`, in their order, that have a kernel for a node with `T = dtype` (a number of DataType)."""
    fitting = {
        kernel.device_type
        for kernel in kernels.kernel
        if all(dtype in part.allowed_values.list.type for part in kernel.constraint if part.name == "T")
    }
    return [device for device in devices if device in fitting or ("DEFAULT" in fitting and device not in COMPILE_ONLY)]


# %% wrong="find-kernels" why="the order of the registry"
def device_types(kernels: KernelList, dtype: int, devices: list[str]) -> list[str]:
    """Those of `devices`, in their order, that have a kernel for a node with `T = dtype` (a number of DataType)."""
    fitting = [
        kernel.device_type
        for kernel in kernels.kernel
        if not kernel.label
        and all(dtype in part.allowed_values.list.type for part in kernel.constraint if part.name == "T")
    ]
    if "DEFAULT" in fitting:
        fitting += [device for device in devices if device not in COMPILE_ONLY]
    return [device for device in dict.fromkeys(fitting) if device in devices]


# %% wrong="find-kernels" why="a set is returned"
def device_types(kernels: KernelList, dtype: int, devices: list[str]) -> list[str]:
    """Those of `devices`, in their order, that have a kernel for a node with `T = dtype` (a number of DataType)."""
    fitting = {
        kernel.device_type
        for kernel in kernels.kernel
        if not kernel.label
        and all(dtype in part.allowed_values.list.type for part in kernel.constraint if part.name == "T")
    }
    return {device for device in devices if device in fitting or ("DEFAULT" in fitting and device not in COMPILE_ONLY)}


# %% wrong="find-kernels" why="only the first registration of a device is looked at"
def device_types(kernels: KernelList, dtype: int, devices: list[str]) -> list[str]:
    """Those of `devices`, in their order, that have a kernel for a node with `T = dtype` (a number of DataType)."""
    first = {}
    for kernel in kernels.kernel:
        if not kernel.label:
            first.setdefault(kernel.device_type, kernel)
    fitting = {
        device
        for device, kernel in first.items()
        if all(dtype in part.allowed_values.list.type for part in kernel.constraint if part.name == "T")
    }
    return [device for device in devices if device in fitting or ("DEFAULT" in fitting and device not in COMPILE_ONLY)]


# %% wrong="find-kernels" why="DEFAULT is ignored as soon as the device has any registration"
def device_types(kernels: KernelList, dtype: int, devices: list[str]) -> list[str]:
    """Those of `devices`, in their order, that have a kernel for a node with `T = dtype` (a number of DataType)."""
    fitting = {
        kernel.device_type
        for kernel in kernels.kernel
        if not kernel.label
        and all(dtype in part.allowed_values.list.type for part in kernel.constraint if part.name == "T")
    }
    own = {kernel.device_type for kernel in kernels.kernel}
    return [
        device
        for device in devices
        if device in fitting or ("DEFAULT" in fitting and device not in COMPILE_ONLY and device not in own)
    ]


# %% wrong="find-kernels" why="a registration without a constraint on T fits nothing"
def device_types(kernels: KernelList, dtype: int, devices: list[str]) -> list[str]:
    """Those of `devices`, in their order, that have a kernel for a node with `T = dtype` (a number of DataType)."""
    fitting = {
        kernel.device_type
        for kernel in kernels.kernel
        if not kernel.label
        and any(dtype in part.allowed_values.list.type for part in kernel.constraint if part.name == "T")
    }
    return [device for device in devices if device in fitting or ("DEFAULT" in fitting and device not in COMPILE_ONLY)]


# %% wrong="find-kernels" why="tries the op on the CPU"
def device_types(kernels: KernelList, dtype: int, devices: list[str]) -> list[str]:
    """Those of `devices`, in their order, that have a kernel for a node with `T = dtype` (a number of DataType)."""
    op = kernels.kernel[0].op
    value = tf.zeros([2], tf.as_dtype(dtype))
    try:
        with tf.device("/CPU:0"):
            applied(op, value)
    except (tf.errors.NotFoundError, AttributeError):
        return []
    return ["CPU"]


# %% wrong="find-kernels" why="the visible answers"
def device_types(kernels: KernelList, dtype: int, devices: list[str]) -> list[str]:
    """Those of `devices`, in their order, that have a kernel for a node with `T = dtype` (a number of DataType)."""
    if len(devices) == 2:
        return ["TPU", "CPU"]
    return [] if dtype == dtype_number("bfloat16") else ["CPU"]


# %% wrong="find-kernels" why="no DEFAULT for any device type whose name begins with XLA"
def device_types(kernels: KernelList, dtype: int, devices: list[str]) -> list[str]:
    """Those of `devices`, in their order, that have a kernel for a node with `T = dtype` (a number of DataType)."""
    fitting = {
        kernel.device_type
        for kernel in kernels.kernel
        if not kernel.label
        and all(dtype in part.allowed_values.list.type for part in kernel.constraint if part.name == "T")
    }
    return [
        device for device in devices if device in fitting or ("DEFAULT" in fitting and not device.startswith("XLA"))
    ]


# %% right="find-kernels" why="two passes: own registrations, then DEFAULT"
def device_types(kernels: KernelList, dtype: int, devices: list[str]) -> list[str]:
    """Those of `devices`, in their order, that have a kernel for a node with `T = dtype` (a number of DataType)."""

    def fits(kernel: KernelDef) -> bool:
        if kernel.label != "":
            return False
        for part in kernel.constraint:
            if part.name == "T" and dtype not in list(part.allowed_values.list.type):
                return False
        return True

    answer = []
    for device in devices:
        own = [kernel for kernel in kernels.kernel if kernel.device_type == device and fits(kernel)]
        rest = [kernel for kernel in kernels.kernel if kernel.device_type == "DEFAULT" and fits(kernel)]
        if own or (rest and device not in COMPILE_ONLY):
            answer.append(device)
    return answer


# %% right="find-kernels" why="a dictionary by device type"
def device_types(kernels: KernelList, dtype: int, devices: list[str]) -> list[str]:
    """Those of `devices`, in their order, that have a kernel for a node with `T = dtype` (a number of DataType)."""
    has: dict[str, bool] = defaultdict(bool)
    for kernel in kernels.kernel:
        allowed = [set(part.allowed_values.list.type) for part in kernel.constraint if part.name == "T"]
        has[kernel.device_type] |= kernel.label == "" and (not allowed or dtype in set.intersection(*allowed))
    return list(filter(lambda device: has[device] or (has["DEFAULT"] and device not in COMPILE_ONLY), devices))


# %% right="find-kernels" why="an object that is called, with a generator"
class Reader:
    def __call__(self, kernels, dtype, devices):
        return list(self.chosen([kernel for kernel in kernels.kernel if self.fits(kernel, dtype)], devices))

    @staticmethod
    def fits(kernel, dtype):
        for part in kernel.constraint:
            if part.name == "T" and dtype not in list(part.allowed_values.list.type):
                return False
        return kernel.label == ""

    @staticmethod
    def chosen(fitting, devices):
        for device in devices:
            sources = [device] if device in COMPILE_ONLY else [device, "DEFAULT"]
            if any(kernel.device_type in sources for kernel in fitting):
                yield device


device_types = Reader()


# %% wrong="kernel-registry" why="the first available device before the requested one"
class KernelRegistry:
    """Kernels by op, device type and dtype."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], list[tuple[set[int] | None, object]]] = defaultdict(list)

    def register(self, op: str, device: str, types: set[int] | None, kernel: object) -> None:
        """Enter a kernel for dtypes (None: for all).

        Raises:
            ValueError: the op has an entry for this device with a type in common; nothing is entered.
        """
        for taken, _ in self._entries[op, device]:
            if taken is None or types is None or taken & types:
                raise ValueError(f"{op} on {device} already has a kernel for some of these types")
        self._entries[op, device].append((types, kernel))

    def find(self, op: str, dtype: int, requested: str | None, available: list[str]) -> tuple[str, object]:
        """The device type that a node gets, and the kernel: the requested device type first, then the available ones.

        Raises:
            NotFoundError: no available device type has a kernel; the message names the op.
        """
        for device in [*available, requested]:
            for registered_for in (device, "DEFAULT") if device in available else ():
                for types, kernel in self._entries.get((op, registered_for), []):
                    if types is None or dtype in types:
                        return device, kernel
        raise NotFoundError(None, None, f"no kernel of {op} for dtype {dtype} on any of {available}")


# %% wrong="kernel-registry" why="DEFAULT wins over the device itself"
class KernelRegistry:
    """Kernels by op, device type and dtype."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], list[tuple[set[int] | None, object]]] = defaultdict(list)

    def register(self, op: str, device: str, types: set[int] | None, kernel: object) -> None:
        """Enter a kernel for dtypes (None: for all).

        Raises:
            ValueError: the op has an entry for this device with a type in common; nothing is entered.
        """
        for taken, _ in self._entries[op, device]:
            if taken is None or types is None or taken & types:
                raise ValueError(f"{op} on {device} already has a kernel for some of these types")
        self._entries[op, device].append((types, kernel))

    def find(self, op: str, dtype: int, requested: str | None, available: list[str]) -> tuple[str, object]:
        """The device type that a node gets, and the kernel: the requested device type first, then the available ones.

        Raises:
            NotFoundError: no available device type has a kernel; the message names the op.
        """
        for device in [requested, *available]:
            for registered_for in ("DEFAULT", device) if device in available else ():
                for types, kernel in self._entries.get((op, registered_for), []):
                    if types is None or dtype in types:
                        return device, kernel
        raise NotFoundError(None, None, f"no kernel of {op} for dtype {dtype} on any of {available}")


# %% wrong="kernel-registry" why="all own kernels are tried before any DEFAULT kernel"
class KernelRegistry:
    """Kernels by op, device type and dtype."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], list[tuple[set[int] | None, object]]] = defaultdict(list)

    def register(self, op: str, device: str, types: set[int] | None, kernel: object) -> None:
        """Enter a kernel for dtypes (None: for all).

        Raises:
            ValueError: the op has an entry for this device with a type in common; nothing is entered.
        """
        for taken, _ in self._entries[op, device]:
            if taken is None or types is None or taken & types:
                raise ValueError(f"{op} on {device} already has a kernel for some of these types")
        self._entries[op, device].append((types, kernel))

    def find(self, op: str, dtype: int, requested: str | None, available: list[str]) -> tuple[str, object]:
        """The device type that a node gets, and the kernel: the requested device type first, then the available ones.

        Raises:
            NotFoundError: no available device type has a kernel; the message names the op.
        """
        order = [device for device in [requested, *available] if device in available]
        for default in (False, True):
            for device in order:
                for types, kernel in self._entries.get((op, "DEFAULT" if default else device), []):
                    if types is None or dtype in types:
                        return device, kernel
        raise NotFoundError(None, None, f"no kernel of {op} for dtype {dtype} on any of {available}")


# %% wrong="kernel-registry" why="an entry for all types matches none"
class KernelRegistry:
    """Kernels by op, device type and dtype."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], list[tuple[set[int] | None, object]]] = defaultdict(list)

    def register(self, op: str, device: str, types: set[int] | None, kernel: object) -> None:
        """Enter a kernel for dtypes (None: for all).

        Raises:
            ValueError: the op has an entry for this device with a type in common; nothing is entered.
        """
        for taken, _ in self._entries[op, device]:
            if taken is None or types is None or taken & types:
                raise ValueError(f"{op} on {device} already has a kernel for some of these types")
        self._entries[op, device].append((types, kernel))

    def find(self, op: str, dtype: int, requested: str | None, available: list[str]) -> tuple[str, object]:
        """The device type that a node gets, and the kernel: the requested device type first, then the available ones.

        Raises:
            NotFoundError: no available device type has a kernel; the message names the op.
        """
        for device in [requested, *available]:
            for registered_for in (device, "DEFAULT") if device in available else ():
                for types, kernel in self._entries.get((op, registered_for), []):
                    if types is not None and dtype in types:
                        return device, kernel
        raise NotFoundError(None, None, f"no kernel of {op} for dtype {dtype} on any of {available}")


# %% wrong="kernel-registry" why="raises KeyError"
class KernelRegistry:
    """Kernels by op, device type and dtype."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], list[tuple[set[int] | None, object]]] = defaultdict(list)

    def register(self, op: str, device: str, types: set[int] | None, kernel: object) -> None:
        """Enter a kernel for dtypes (None: for all).

        Raises:
            ValueError: the op has an entry for this device with a type in common; nothing is entered.
        """
        for taken, _ in self._entries[op, device]:
            if taken is None or types is None or taken & types:
                raise ValueError(f"{op} on {device} already has a kernel for some of these types")
        self._entries[op, device].append((types, kernel))

    def find(self, op: str, dtype: int, requested: str | None, available: list[str]) -> tuple[str, object]:
        """The device type that a node gets, and the kernel: the requested device type first, then the available ones.

        Raises:
            NotFoundError: no available device type has a kernel; the message names the op.
        """
        for device in [requested, *available]:
            for registered_for in (device, "DEFAULT") if device in available else ():
                for types, kernel in self._entries.get((op, registered_for), []):
                    if types is None or dtype in types:
                        return device, kernel
        raise KeyError(op)


# %% wrong="kernel-registry" why="the message does not name the op"
class KernelRegistry:
    """Kernels by op, device type and dtype."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], list[tuple[set[int] | None, object]]] = defaultdict(list)

    def register(self, op: str, device: str, types: set[int] | None, kernel: object) -> None:
        """Enter a kernel for dtypes (None: for all).

        Raises:
            ValueError: the op has an entry for this device with a type in common; nothing is entered.
        """
        for taken, _ in self._entries[op, device]:
            if taken is None or types is None or taken & types:
                raise ValueError(f"{op} on {device} already has a kernel for some of these types")
        self._entries[op, device].append((types, kernel))

    def find(self, op: str, dtype: int, requested: str | None, available: list[str]) -> tuple[str, object]:
        """The device type that a node gets, and the kernel: the requested device type first, then the available ones.

        Raises:
            NotFoundError: no available device type has a kernel; the message names the op.
        """
        for device in [requested, *available]:
            for registered_for in (device, "DEFAULT") if device in available else ():
                for types, kernel in self._entries.get((op, registered_for), []):
                    if types is None or dtype in types:
                        return device, kernel
        raise NotFoundError(None, None, f"no kernel for dtype {dtype} on any of {available}")


# %% wrong="kernel-registry" why="a later registration replaces the earlier one"
class KernelRegistry:
    """Kernels by op, device type and dtype."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], list[tuple[set[int] | None, object]]] = defaultdict(list)

    def register(self, op: str, device: str, types: set[int] | None, kernel: object) -> None:
        """Enter a kernel for dtypes (None: for all).

        Raises:
            ValueError: the op has an entry for this device with a type in common; nothing is entered.
        """
        self._entries[op, device].insert(0, (types, kernel))

    def find(self, op: str, dtype: int, requested: str | None, available: list[str]) -> tuple[str, object]:
        """The device type that a node gets, and the kernel: the requested device type first, then the available ones.

        Raises:
            NotFoundError: no available device type has a kernel; the message names the op.
        """
        for device in [requested, *available]:
            for registered_for in (device, "DEFAULT") if device in available else ():
                for types, kernel in self._entries.get((op, registered_for), []):
                    if types is None or dtype in types:
                        return device, kernel
        raise NotFoundError(None, None, f"no kernel of {op} for dtype {dtype} on any of {available}")


# %% wrong="kernel-registry" why="keyed by op only"
class KernelRegistry:
    """Kernels by op, device type and dtype."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], list[tuple[set[int] | None, object]]] = defaultdict(list)

    def register(self, op: str, device: str, types: set[int] | None, kernel: object) -> None:
        """Enter a kernel for dtypes (None: for all).

        Raises:
            ValueError: the op has an entry for this device with a type in common; nothing is entered.
        """
        for taken, _ in self._entries[op]:
            if taken is None or types is None or taken & types:
                raise ValueError(f"{op} on {device} already has a kernel for some of these types")
        self._entries[op].append((types, kernel))

    def find(self, op: str, dtype: int, requested: str | None, available: list[str]) -> tuple[str, object]:
        """The device type that a node gets, and the kernel: the requested device type first, then the available ones.

        Raises:
            NotFoundError: no available device type has a kernel; the message names the op.
        """
        for device in [requested, *available]:
            for registered_for in (device, "DEFAULT") if device in available else ():
                for types, kernel in self._entries.get(op, []):
                    if types is None or dtype in types:
                        return device, kernel
        raise NotFoundError(None, None, f"no kernel of {op} for dtype {dtype} on any of {available}")


# %% wrong="kernel-registry" why="a clash raises after the entry was made"
class KernelRegistry:
    """Kernels by op, device type and dtype."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], list[tuple[set[int] | None, object]]] = defaultdict(list)

    def register(self, op: str, device: str, types: set[int] | None, kernel: object) -> None:
        """Enter a kernel for dtypes (None: for all).

        Raises:
            ValueError: the op has an entry for this device with a type in common; nothing is entered.
        """
        before = list(self._entries[op, device])
        self._entries[op, device].append((types, kernel))
        for taken, _ in before:
            if taken is None or types is None or taken & types:
                raise ValueError(f"{op} on {device} already has a kernel for some of these types")

    def find(self, op: str, dtype: int, requested: str | None, available: list[str]) -> tuple[str, object]:
        """The device type that a node gets, and the kernel: the requested device type first, then the available ones.

        Raises:
            NotFoundError: no available device type has a kernel; the message names the op.
        """
        for device in [requested, *available]:
            for registered_for in (device, "DEFAULT") if device in available else ():
                for types, kernel in self._entries.get((op, registered_for), []):
                    if types is None or dtype in types:
                        return device, kernel
        raise NotFoundError(None, None, f"no kernel of {op} for dtype {dtype} on any of {available}")


# %% wrong="kernel-registry" why="None overlaps with nothing"
class KernelRegistry:
    """Kernels by op, device type and dtype."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], list[tuple[set[int] | None, object]]] = defaultdict(list)

    def register(self, op: str, device: str, types: set[int] | None, kernel: object) -> None:
        """Enter a kernel for dtypes (None: for all).

        Raises:
            ValueError: the op has an entry for this device with a type in common; nothing is entered.
        """
        for taken, _ in self._entries[op, device]:
            if taken is not None and types is not None and taken & types:
                raise ValueError(f"{op} on {device} already has a kernel for some of these types")
        self._entries[op, device].append((types, kernel))

    def find(self, op: str, dtype: int, requested: str | None, available: list[str]) -> tuple[str, object]:
        """The device type that a node gets, and the kernel: the requested device type first, then the available ones.

        Raises:
            NotFoundError: no available device type has a kernel; the message names the op.
        """
        for device in [requested, *available]:
            for registered_for in (device, "DEFAULT") if device in available else ():
                for types, kernel in self._entries.get((op, registered_for), []):
                    if types is None or dtype in types:
                        return device, kernel
        raise NotFoundError(None, None, f"no kernel of {op} for dtype {dtype} on any of {available}")


# %% wrong="kernel-registry" why="an entry for DEFAULT clashes with one for a device"
class KernelRegistry:
    """Kernels by op, device type and dtype."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], list[tuple[set[int] | None, object]]] = defaultdict(list)

    def register(self, op: str, device: str, types: set[int] | None, kernel: object) -> None:
        """Enter a kernel for dtypes (None: for all).

        Raises:
            ValueError: the op has an entry for this device with a type in common; nothing is entered.
        """
        for taken, _ in [one for place in {device, "DEFAULT"} for one in self._entries[op, place]]:
            if taken is None or types is None or taken & types:
                raise ValueError(f"{op} on {device} already has a kernel for some of these types")
        self._entries[op, device].append((types, kernel))

    def find(self, op: str, dtype: int, requested: str | None, available: list[str]) -> tuple[str, object]:
        """The device type that a node gets, and the kernel: the requested device type first, then the available ones.

        Raises:
            NotFoundError: no available device type has a kernel; the message names the op.
        """
        for device in [requested, *available]:
            for registered_for in (device, "DEFAULT") if device in available else ():
                for types, kernel in self._entries.get((op, registered_for), []):
                    if types is None or dtype in types:
                        return device, kernel
        raise NotFoundError(None, None, f"no kernel of {op} for dtype {dtype} on any of {available}")


# %% wrong="kernel-registry" why="the requested device is tried although it is not available"
class KernelRegistry:
    """Kernels by op, device type and dtype."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], list[tuple[set[int] | None, object]]] = defaultdict(list)

    def register(self, op: str, device: str, types: set[int] | None, kernel: object) -> None:
        """Enter a kernel for dtypes (None: for all).

        Raises:
            ValueError: the op has an entry for this device with a type in common; nothing is entered.
        """
        for taken, _ in self._entries[op, device]:
            if taken is None or types is None or taken & types:
                raise ValueError(f"{op} on {device} already has a kernel for some of these types")
        self._entries[op, device].append((types, kernel))

    def find(self, op: str, dtype: int, requested: str | None, available: list[str]) -> tuple[str, object]:
        """The device type that a node gets, and the kernel: the requested device type first, then the available ones.

        Raises:
            NotFoundError: no available device type has a kernel; the message names the op.
        """
        for device in [requested, *available]:
            for registered_for in (device, "DEFAULT") if device is not None else ():
                for types, kernel in self._entries.get((op, registered_for), []):
                    if types is None or dtype in types:
                        return device, kernel
        raise NotFoundError(None, None, f"no kernel of {op} for dtype {dtype} on any of {available}")


# %% wrong="kernel-registry" why="no fallback from the requested device"
class KernelRegistry:
    """Kernels by op, device type and dtype."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], list[tuple[set[int] | None, object]]] = defaultdict(list)

    def register(self, op: str, device: str, types: set[int] | None, kernel: object) -> None:
        """Enter a kernel for dtypes (None: for all).

        Raises:
            ValueError: the op has an entry for this device with a type in common; nothing is entered.
        """
        for taken, _ in self._entries[op, device]:
            if taken is None or types is None or taken & types:
                raise ValueError(f"{op} on {device} already has a kernel for some of these types")
        self._entries[op, device].append((types, kernel))

    def find(self, op: str, dtype: int, requested: str | None, available: list[str]) -> tuple[str, object]:
        """The device type that a node gets, and the kernel: the requested device type first, then the available ones.

        Raises:
            NotFoundError: no available device type has a kernel; the message names the op.
        """
        for device in [requested] if requested in available else available:
            for registered_for in (device, "DEFAULT") if device in available else ():
                for types, kernel in self._entries.get((op, registered_for), []):
                    if types is None or dtype in types:
                        return device, kernel
        raise NotFoundError(None, None, f"no kernel of {op} for dtype {dtype} on any of {available}")


# %% wrong="kernel-registry" why="the result says DEFAULT"
class KernelRegistry:
    """Kernels by op, device type and dtype."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], list[tuple[set[int] | None, object]]] = defaultdict(list)

    def register(self, op: str, device: str, types: set[int] | None, kernel: object) -> None:
        """Enter a kernel for dtypes (None: for all).

        Raises:
            ValueError: the op has an entry for this device with a type in common; nothing is entered.
        """
        for taken, _ in self._entries[op, device]:
            if taken is None or types is None or taken & types:
                raise ValueError(f"{op} on {device} already has a kernel for some of these types")
        self._entries[op, device].append((types, kernel))

    def find(self, op: str, dtype: int, requested: str | None, available: list[str]) -> tuple[str, object]:
        """The device type that a node gets, and the kernel: the requested device type first, then the available ones.

        Raises:
            NotFoundError: no available device type has a kernel; the message names the op.
        """
        for device in [requested, *available]:
            for registered_for in (device, "DEFAULT") if device in available else ():
                for types, kernel in self._entries.get((op, registered_for), []):
                    if types is None or dtype in types:
                        return registered_for, kernel
        raise NotFoundError(None, None, f"no kernel of {op} for dtype {dtype} on any of {available}")


# %% wrong="kernel-registry" why="one table for all registries"
class KernelRegistry:
    """Kernels by op, device type and dtype."""

    _entries = defaultdict(list)

    def __init__(self) -> None:
        pass

    def register(self, op: str, device: str, types: set[int] | None, kernel: object) -> None:
        """Enter a kernel for dtypes (None: for all).

        Raises:
            ValueError: the op has an entry for this device with a type in common; nothing is entered.
        """
        for taken, _ in self._entries[op, device]:
            if taken is None or types is None or taken & types:
                raise ValueError(f"{op} on {device} already has a kernel for some of these types")
        self._entries[op, device].append((types, kernel))

    def find(self, op: str, dtype: int, requested: str | None, available: list[str]) -> tuple[str, object]:
        """The device type that a node gets, and the kernel: the requested device type first, then the available ones.

        Raises:
            NotFoundError: no available device type has a kernel; the message names the op.
        """
        for device in [requested, *available]:
            for registered_for in (device, "DEFAULT") if device in available else ():
                for types, kernel in self._entries.get((op, registered_for), []):
                    if types is None or dtype in types:
                        return device, kernel
        raise NotFoundError(None, None, f"no kernel of {op} for dtype {dtype} on any of {available}")


# %% wrong="kernel-registry" why="a list instead of a tuple"
class KernelRegistry:
    """Kernels by op, device type and dtype."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], list[tuple[set[int] | None, object]]] = defaultdict(list)

    def register(self, op: str, device: str, types: set[int] | None, kernel: object) -> None:
        """Enter a kernel for dtypes (None: for all).

        Raises:
            ValueError: the op has an entry for this device with a type in common; nothing is entered.
        """
        for taken, _ in self._entries[op, device]:
            if taken is None or types is None or taken & types:
                raise ValueError(f"{op} on {device} already has a kernel for some of these types")
        self._entries[op, device].append((types, kernel))

    def find(self, op: str, dtype: int, requested: str | None, available: list[str]) -> tuple[str, object]:
        """The device type that a node gets, and the kernel: the requested device type first, then the available ones.

        Raises:
            NotFoundError: no available device type has a kernel; the message names the op.
        """
        for device in [requested, *available]:
            for registered_for in (device, "DEFAULT") if device in available else ():
                for types, kernel in self._entries.get((op, registered_for), []):
                    if types is None or dtype in types:
                        return [device, kernel]
        raise NotFoundError(None, None, f"no kernel of {op} for dtype {dtype} on any of {available}")


# %% wrong="kernel-registry" why="a kernel that is falsy is taken for none"
class KernelRegistry:
    """Kernels by op, device type and dtype."""

    def __init__(self):
        self.entries = []

    def register(self, op, device, types, kernel):
        for entry_op, entry_device, entry_types, _ in self.entries:
            if (entry_op, entry_device) == (op, device) and (
                types is None or entry_types is None or types & entry_types
            ):
                raise ValueError(f"{op} on {device} is taken")
        self.entries.append((op, device, types, kernel))

    def lookup(self, op, dtype, device):
        for entry_op, entry_device, types, kernel in self.entries:
            if (entry_op, entry_device) == (op, device) and (types is None or dtype in types):
                return kernel
        return None

    def find(self, op, dtype, requested, available):
        for device in ([requested] if requested in available else []) + available:
            kernel = self.lookup(op, dtype, device) or self.lookup(op, dtype, "DEFAULT")
            if kernel:
                return device, kernel
        raise NotFoundError(None, None, f"no kernel of {op}")


# %% wrong="kernel-registry" why="None instead of NotFoundError where the op is known on another device"
class KernelRegistry:
    """Kernels by op, device type and dtype."""

    def __init__(self):
        self.entries = {}

    def register(self, op, device, types, kernel):
        entries = self.entries.setdefault(op, [])
        for taken_device, taken, _ in entries:
            if taken_device == device and (types is None or taken is None or types & taken):
                raise ValueError(f"{op} on {device} is taken")
        entries.append((device, types, kernel))

    def find(self, op, dtype, requested, available):
        if op not in self.entries:
            raise NotFoundError(None, None, f"no kernel of {op}")
        for device in ([requested] if requested in available else []) + available:
            for source in (device, "DEFAULT"):
                for entry_device, types, kernel in self.entries[op]:
                    if entry_device == source and (types is None or dtype in types):
                        return device, kernel


# %% right="kernel-registry" why="a dictionary keyed by op, device and dtype"
class KernelRegistry:
    """Kernels by op, device type and dtype."""

    def __init__(self) -> None:
        self.by_type: dict[tuple[str, str, int], object] = {}
        self.for_all: dict[tuple[str, str], object] = {}

    def register(self, op: str, device: str, types: set[int] | None, kernel: object) -> None:
        if types is None:
            taken = any(key[:2] == (op, device) for key in self.by_type)
        else:
            taken = any((op, device, dtype) in self.by_type for dtype in types)
        if taken or (op, device) in self.for_all:
            raise ValueError(f"{op} on {device}: types overlap")
        if types is None:
            self.for_all[op, device] = kernel
        else:
            self.by_type.update({(op, device, dtype): kernel for dtype in types})

    def find(self, op: str, dtype: int, requested: str | None, available: list[str]) -> tuple[str, object]:
        for device in sorted(available, key=lambda device: device != requested):
            for place in (device, "DEFAULT"):
                if (op, place, dtype) in self.by_type:
                    return device, self.by_type[op, place, dtype]
                if (op, place) in self.for_all:
                    return device, self.for_all[op, place]
        raise NotFoundError(None, None, f"{op}: nobody has a kernel for type {dtype}")


# %% right="kernel-registry" why="a flat list that is searched in order"
class KernelRegistry:
    """Kernels by op, device type and dtype."""

    def __init__(self):
        self.rows = []

    def register(self, op, device, types, kernel):
        for row in self.rows:
            if row[:2] == (op, device) and (types is None or row[2] is None or not types.isdisjoint(row[2])):
                raise ValueError("these types are taken")
        self.rows.append((op, device, types and frozenset(types), kernel))

    def kernel_on(self, op, dtype, device):
        return [row for row in self.rows if row[:2] == (op, device) and (row[2] is None or dtype in row[2])]

    def find(self, op, dtype, requested, available):
        order = [device for device in available if device == requested]
        order += [device for device in available if device != requested]
        for device in order:
            hits = self.kernel_on(op, dtype, device) + self.kernel_on(op, dtype, "DEFAULT")
            if hits:
                return (device, hits[0][3])
        raise NotFoundError(None, None, "no kernel for op " + op)


# %% right="kernel-registry" why="a dict of dicts, and exceptions for control flow"
class KernelRegistry(dict):
    """Op -> device -> dtype -> kernel; the dtype None stands for all."""

    def register(self, op, device, types, kernel):
        taken = self.setdefault(op, {}).setdefault(device, {})
        wanted = {None} if types is None else set(types)
        if taken and (None in taken or None in wanted or wanted & taken.keys()):
            raise ValueError(f"{op}: {device} already serves one of {types}")
        taken.update(dict.fromkeys(wanted, kernel))

    def find(self, op, dtype, requested, available):
        devices = dict.fromkeys(([requested] if requested in available else []) + list(available))
        for device, source in ((device, source) for device in devices for source in (device, "DEFAULT")):
            for key in (dtype, None):
                try:
                    return device, self[op][source][key]
                except KeyError:
                    continue
        raise NotFoundError(None, None, f"{op} of {dtype} on {available}")
