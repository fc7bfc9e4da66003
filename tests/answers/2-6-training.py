# %% wrong="predict-hooks" why="lets hooks end in the reverse order"
STEP = ["a.before_run", "b.before_run", "a.after_run", "b.after_run"]
CALLS = ["a.begin", "b.begin", "a.after_create_session", "b.after_create_session", *STEP, *STEP, "b.end", "a.end"]

# %% wrong="predict-hooks" why="thinks that a request to stop breaks off the phase"
STEP = ["a.before_run", "b.before_run", "a.after_run", "b.after_run"]
CALLS = ["a.begin", "b.begin", "a.after_create_session", "b.after_create_session", *STEP, *STEP[:3], "a.end", "b.end"]

# %% wrong="predict-hooks" why="stops a before its own after_run"
STEP = ["a.before_run", "b.before_run", "a.after_run", "b.after_run"]
CALLS = ["a.begin", "b.begin", "a.after_create_session", "b.after_create_session", *STEP, *STEP[:2], "a.end", "b.end"]

# %% wrong="predict-hooks" why="calls begin after the session is created"
STEP = ["a.before_run", "b.before_run", "a.after_run", "b.after_run"]
CALLS = ["a.after_create_session", "b.after_create_session", "a.begin", "b.begin", *STEP, *STEP, "a.end", "b.end"]

# %% wrong="predict-hooks" why="runs one step too many"
STEP = ["a.before_run", "b.before_run", "a.after_run", "b.after_run"]
CALLS = ["a.begin", "b.begin", "a.after_create_session", "b.after_create_session", *STEP * 3, "a.end", "b.end"]

# %% wrong="predict-hooks" why="goes through one hook after the other"
CALLS = [
    *["a.begin", "a.after_create_session", "b.begin", "b.after_create_session"],
    *["a.before_run", "a.after_run", "b.before_run", "b.after_run"] * 2,
    *["a.end", "b.end"],
]

# %% right="predict-hooks" why="builds the list phase by phase"
CALLS = [
    f"{hook}.{method}"
    for method in ["begin", "after_create_session", *["before_run", "after_run"] * 2, "end"]
    for hook in ("a", "b")
]


# %% wrong="hooked-loop" why="stops as soon as a hook asks for it"
def hooked_loop(plans, last):
    log, counts = [], {plan.name: 0 for plan in plans}
    value, stop = 0, False

    class Failed(Exception):
        pass

    def fail(plan, method):
        if plan.where == method and plan.fail_at == counts[plan.name]:
            raise Failed(plan.error)

    def run():
        nonlocal value, stop
        while True:
            try:
                for plan in plans:
                    counts[plan.name] += 1
                    log.append((plan.name, "before_run"))
                    fail(plan, "before_run")
                value += 1
                for plan in plans:
                    log.append((plan.name, "after_run", value))
                    fail(plan, "after_run")
                    if plan.stop_at == counts[plan.name]:
                        stop = True
                        return
                return
            except Failed as failed:
                if failed.args != ("AbortedError",):
                    raise
                value = 0
                log.extend((plan.name, "after_create_session") for plan in plans)

    log += [(plan.name, method) for method in ("begin", "after_create_session") for plan in plans]
    try:
        for _ in range(last):
            if stop:
                break
            log.append(("loop", "run"))
            run()
    except Failed as failed:
        if failed.args == ("ValueError",):
            return log, "ValueError"
    return log + [(plan.name, "end") for plan in plans], "closed"


# %% wrong="hooked-loop" why="calls end after a ValueError too, in a finally"
def hooked_loop(plans, last):
    log, counts = [], {plan.name: 0 for plan in plans}
    value, stop = 0, False

    class Failed(Exception):
        pass

    def fail(plan, method):
        if plan.where == method and plan.fail_at == counts[plan.name]:
            raise Failed(plan.error)

    def run():
        nonlocal value, stop
        while True:
            try:
                for plan in plans:
                    counts[plan.name] += 1
                    log.append((plan.name, "before_run"))
                    fail(plan, "before_run")
                value += 1
                asked = False
                for plan in plans:
                    log.append((plan.name, "after_run", value))
                    fail(plan, "after_run")
                    asked |= plan.stop_at == counts[plan.name]
                stop = asked
                return
            except Failed as failed:
                if failed.args != ("AbortedError",):
                    raise
                value = 0
                log.extend((plan.name, "after_create_session") for plan in plans)

    log += [(plan.name, method) for method in ("begin", "after_create_session") for plan in plans]
    outcome = "closed"
    try:
        for _ in range(last):
            if stop:
                break
            log.append(("loop", "run"))
            run()
    except Failed as failed:
        if failed.args == ("ValueError",):
            outcome = "ValueError"
    finally:
        log += [(plan.name, "end") for plan in plans]
    return log, outcome


# %% wrong="hooked-loop" why="does not call end after an OutOfRangeError"
def hooked_loop(plans, last):
    log, counts = [], {plan.name: 0 for plan in plans}
    value, stop = 0, False

    class Failed(Exception):
        pass

    def fail(plan, method):
        if plan.where == method and plan.fail_at == counts[plan.name]:
            raise Failed(plan.error)

    def run():
        nonlocal value, stop
        while True:
            try:
                for plan in plans:
                    counts[plan.name] += 1
                    log.append((plan.name, "before_run"))
                    fail(plan, "before_run")
                value += 1
                asked = False
                for plan in plans:
                    log.append((plan.name, "after_run", value))
                    fail(plan, "after_run")
                    asked |= plan.stop_at == counts[plan.name]
                stop = asked
                return
            except Failed as failed:
                if failed.args != ("AbortedError",):
                    raise
                value = 0
                log.extend((plan.name, "after_create_session") for plan in plans)

    log += [(plan.name, method) for method in ("begin", "after_create_session") for plan in plans]
    try:
        for _ in range(last):
            if stop:
                break
            log.append(("loop", "run"))
            run()
    except Failed as failed:
        return log, "ValueError" if failed.args == ("ValueError",) else "closed"
    return log + [(plan.name, "end") for plan in plans], "closed"


# %% wrong="hooked-loop" why="begins and creates hook by hook"
def hooked_loop(plans, last):
    log, counts = [], {plan.name: 0 for plan in plans}
    value, stop = 0, False

    class Failed(Exception):
        pass

    def fail(plan, method):
        if plan.where == method and plan.fail_at == counts[plan.name]:
            raise Failed(plan.error)

    def run():
        nonlocal value, stop
        while True:
            try:
                for plan in plans:
                    counts[plan.name] += 1
                    log.append((plan.name, "before_run"))
                    fail(plan, "before_run")
                value += 1
                asked = False
                for plan in plans:
                    log.append((plan.name, "after_run", value))
                    fail(plan, "after_run")
                    asked |= plan.stop_at == counts[plan.name]
                stop = asked
                return
            except Failed as failed:
                if failed.args != ("AbortedError",):
                    raise
                value = 0
                log.extend((plan.name, "after_create_session") for plan in plans)

    log += [(plan.name, method) for plan in plans for method in ("begin", "after_create_session")]
    try:
        for _ in range(last):
            if stop:
                break
            log.append(("loop", "run"))
            run()
    except Failed as failed:
        if failed.args == ("ValueError",):
            return log, "ValueError"
    return log + [(plan.name, "end") for plan in plans], "closed"


# %% wrong="hooked-loop" why="runs the plans in a MonitoredSession"
def hooked_loop(plans, last):
    return monitored_loop(plans, last)


# %% wrong="hooked-loop" why="takes AbortedError for an error like others"
def hooked_loop(plans, last):
    log, counts = [], {plan.name: 0 for plan in plans}
    value, stop = 0, False

    class Failed(Exception):
        pass

    def fail(plan, method):
        if plan.where == method and plan.fail_at == counts[plan.name]:
            raise Failed(plan.error)

    log += [(plan.name, method) for method in ("begin", "after_create_session") for plan in plans]
    try:
        for _ in range(last):
            if stop:
                break
            log.append(("loop", "run"))
            for plan in plans:
                counts[plan.name] += 1
                log.append((plan.name, "before_run"))
                fail(plan, "before_run")
            value += 1
            for plan in plans:
                log.append((plan.name, "after_run", value))
                fail(plan, "after_run")
                stop |= plan.stop_at == counts[plan.name]
    except Failed as failed:
        if failed.args[0] in ("ValueError", "AbortedError"):
            return log, failed.args[0]
    return log + [(plan.name, "end") for plan in plans], "closed"


# %% wrong="hooked-loop" why="goes on counting in the new session"
def hooked_loop(plans, last):
    log, counts = [], {plan.name: 0 for plan in plans}
    value, stop = 0, False

    class Failed(Exception):
        pass

    def fail(plan, method):
        if plan.where == method and plan.fail_at == counts[plan.name]:
            raise Failed(plan.error)

    def run():
        nonlocal value, stop
        while True:
            try:
                for plan in plans:
                    counts[plan.name] += 1
                    log.append((plan.name, "before_run"))
                    fail(plan, "before_run")
                value += 1
                asked = False
                for plan in plans:
                    log.append((plan.name, "after_run", value))
                    fail(plan, "after_run")
                    asked |= plan.stop_at == counts[plan.name]
                stop = asked
                return
            except Failed as failed:
                if failed.args != ("AbortedError",):
                    raise
                log.extend((plan.name, "after_create_session") for plan in plans)

    log += [(plan.name, method) for method in ("begin", "after_create_session") for plan in plans]
    try:
        for _ in range(last):
            if stop:
                break
            log.append(("loop", "run"))
            run()
    except Failed as failed:
        if failed.args == ("ValueError",):
            return log, "ValueError"
    return log + [(plan.name, "end") for plan in plans], "closed"


# %% wrong="hooked-loop" why="remembers the stop of a phase that broke off"
def hooked_loop(plans, last):
    log, counts = [], {plan.name: 0 for plan in plans}
    value, stop = 0, False

    class Failed(Exception):
        pass

    def fail(plan, method):
        if plan.where == method and plan.fail_at == counts[plan.name]:
            raise Failed(plan.error)

    def run():
        nonlocal value, stop
        while True:
            try:
                for plan in plans:
                    counts[plan.name] += 1
                    log.append((plan.name, "before_run"))
                    fail(plan, "before_run")
                value += 1
                for plan in plans:
                    log.append((plan.name, "after_run", value))
                    fail(plan, "after_run")
                    stop |= plan.stop_at == counts[plan.name]
                return
            except Failed as failed:
                if failed.args != ("AbortedError",):
                    raise
                value = 0
                log.extend((plan.name, "after_create_session") for plan in plans)

    log += [(plan.name, method) for method in ("begin", "after_create_session") for plan in plans]
    try:
        for _ in range(last):
            if stop:
                break
            log.append(("loop", "run"))
            run()
    except Failed as failed:
        if failed.args == ("ValueError",):
            return log, "ValueError"
    return log + [(plan.name, "end") for plan in plans], "closed"


# %% wrong="hooked-loop" why="returns the example's log"
def hooked_loop(plans, last):
    log = [("a", "begin"), ("a", "after_create_session"), ("loop", "run"), ("a", "before_run"), ("a", "after_run", 1)]
    return [*log, ("a", "end")], "closed"


# %% right="hooked-loop" why="a small class with a context manager, and real exceptions"
class Loop:
    def __init__(self, plans):
        self.plans, self.log = plans, []
        self.counts = [0 for _ in plans]
        self.outcome = "closed"

    def phase(self, *entry):
        self.log += [(plan.name, *entry) for plan in self.plans]

    def new_session(self):
        self.value, self.stop = 0, False
        self.phase("after_create_session")

    def __enter__(self):
        self.phase("begin")
        self.new_session()
        return self

    def __exit__(self, kind, error, trace):
        if kind is None or issubclass(kind, (StopIteration, tf.errors.OutOfRangeError)):
            self.phase("end")
        else:
            self.outcome = kind.__name__
        return True

    def method(self, name, *more):
        for number, plan in enumerate(self.plans):
            self.counts[number] += name == "before_run"
            self.log.append((plan.name, name, *more))
            if (plan.where, plan.fail_at) == (name, self.counts[number]):
                raise ERRORS[plan.error]()
            yield plan.stop_at == self.counts[number]

    def run(self):
        self.log.append(("loop", "run"))
        while True:
            try:
                list(self.method("before_run"))
                self.value += 1
                self.stop = any([*self.method("after_run", self.value)])
                return
            except RuntimeError as error:  # a StopIteration in a generator
                raise error.__cause__ from None
            except tf.errors.AbortedError:
                self.new_session()


def hooked_loop(plans: list[HookPlan], last: int) -> tuple[list[tuple], str]:
    """All calls, and how the block ends."""
    with Loop(plans) as loop:
        for _ in range(last):
            if loop.stop:
                break
            loop.run()
    return loop.log, loop.outcome


# %% wrong="early-stop" why="counts the steps without improvement in total"
def train_until_flat(model, patience, min_delta):
    seen = []

    class EarlyStop(tf1.train.SessionRunHook):
        def begin(self):
            self.best, self.waited = float("inf"), 0

        def before_run(self, run_context):
            return tf1.train.SessionRunArgs("loss:0")

        def after_run(self, run_context, run_values):
            loss = float(run_values.results)
            if np.isnan(loss):
                raise tf1.train.NanLossDuringTrainingError
            seen.append(loss)
            if loss < self.best - min_delta:
                self.best = loss
            else:
                self.waited += 1
                if self.waited >= patience:
                    run_context.request_stop()

    with tf.Graph().as_default():
        tf.import_graph_def(model, name="")
        with tf1.train.MonitoredSession(hooks=[EarlyStop()]) as session:
            while not session.should_stop():
                session.run("train")
    return seen


# %% wrong="early-stop" why="compares with the loss before instead of the best"
def train_until_flat(model, patience, min_delta):
    seen = []

    class EarlyStop(tf1.train.SessionRunHook):
        def begin(self):
            self.last, self.waited = float("inf"), 0

        def before_run(self, run_context):
            return tf1.train.SessionRunArgs("loss:0")

        def after_run(self, run_context, run_values):
            loss = float(run_values.results)
            if np.isnan(loss):
                raise tf1.train.NanLossDuringTrainingError
            seen.append(loss)
            self.waited = 0 if loss < self.last - min_delta else self.waited + 1
            self.last = loss
            if self.waited and self.waited >= patience:
                run_context.request_stop()

    with tf.Graph().as_default():
        tf.import_graph_def(model, name="")
        with tf1.train.MonitoredSession(hooks=[EarlyStop()]) as session:
            while not session.should_stop():
                session.run("train")
    return seen


# %% wrong="early-stop" why="takes a loss at the margin for an improvement"
def train_until_flat(model, patience, min_delta):
    seen = []

    class EarlyStop(tf1.train.SessionRunHook):
        def begin(self):
            self.best, self.waited = float("inf"), 0

        def before_run(self, run_context):
            return tf1.train.SessionRunArgs("loss:0")

        def after_run(self, run_context, run_values):
            loss = float(run_values.results)
            if np.isnan(loss):
                raise tf1.train.NanLossDuringTrainingError
            seen.append(loss)
            self.waited += 1
            if loss <= self.best - min_delta:
                self.best, self.waited = loss, 0
            elif self.waited >= patience:
                run_context.request_stop()

    with tf.Graph().as_default():
        tf.import_graph_def(model, name="")
        with tf1.train.MonitoredSession(hooks=[EarlyStop()]) as session:
            while not session.should_stop():
                session.run("train")
    return seen


# %% wrong="early-stop" why="stops in the first step with a patience of 0"
def train_until_flat(model, patience, min_delta):
    seen = []

    class EarlyStop(tf1.train.SessionRunHook):
        def begin(self):
            self.best, self.waited = float("inf"), 0

        def before_run(self, run_context):
            return tf1.train.SessionRunArgs("loss:0")

        def after_run(self, run_context, run_values):
            loss = float(run_values.results)
            if np.isnan(loss):
                raise tf1.train.NanLossDuringTrainingError
            seen.append(loss)
            self.waited += 1
            if loss < self.best - min_delta:
                self.best, self.waited = loss, 0
            if self.waited >= patience:
                run_context.request_stop()

    with tf.Graph().as_default():
        tf.import_graph_def(model, name="")
        with tf1.train.MonitoredSession(hooks=[EarlyStop()]) as session:
            while not session.should_stop():
                session.run("train")
    return seen


# %% wrong="early-stop" why="the hook reads the loss by a second run, which moves the model on"
def train_until_flat(model, patience, min_delta):
    seen = []

    class EarlyStop(tf1.train.SessionRunHook):
        def begin(self):
            self.best, self.waited = float("inf"), 0

        def after_run(self, run_context, run_values):
            loss = float(run_context.session.run("loss:0"))
            if np.isnan(loss):
                raise tf1.train.NanLossDuringTrainingError
            seen.append(loss)
            self.waited += 1
            if loss < self.best - min_delta:
                self.best, self.waited = loss, 0
            elif self.waited >= patience:
                run_context.request_stop()

    with tf.Graph().as_default():
        tf.import_graph_def(model, name="")
        with tf1.train.MonitoredSession(hooks=[EarlyStop()]) as session:
            while not session.should_stop():
                session.run("train")
    return seen


# %% wrong="early-stop" why="stops at a NaN without an error"
def train_until_flat(model, patience, min_delta):
    seen = []

    class EarlyStop(tf1.train.SessionRunHook):
        def begin(self):
            self.best, self.waited = float("inf"), 0

        def before_run(self, run_context):
            return tf1.train.SessionRunArgs("loss:0")

        def after_run(self, run_context, run_values):
            loss = float(run_values.results)
            if np.isnan(loss):
                run_context.request_stop()
                return
            seen.append(loss)
            self.waited += 1
            if loss < self.best - min_delta:
                self.best, self.waited = loss, 0
            elif self.waited >= patience:
                run_context.request_stop()

    with tf.Graph().as_default():
        tf.import_graph_def(model, name="")
        with tf1.train.MonitoredSession(hooks=[EarlyStop()]) as session:
            while not session.should_stop():
                session.run("train")
    return seen


# %% wrong="early-stop" why="runs the loss and forgets to train"
def train_until_flat(model, patience, min_delta):
    seen = []

    class EarlyStop(tf1.train.SessionRunHook):
        def begin(self):
            self.best, self.waited = float("inf"), 0

        def before_run(self, run_context):
            return tf1.train.SessionRunArgs("loss:0")

        def after_run(self, run_context, run_values):
            loss = float(run_values.results)
            if np.isnan(loss):
                raise tf1.train.NanLossDuringTrainingError
            seen.append(loss)
            if loss < self.best - min_delta:
                self.best, self.waited = loss, 0
                return
            self.waited += 1
            if self.waited >= patience:
                run_context.request_stop()

    with tf.Graph().as_default():
        tf.import_graph_def(model, name="")
        with tf1.train.MonitoredSession(hooks=[EarlyStop()]) as session:
            while not session.should_stop():
                session.run("loss:0")
    return seen


# %% wrong="early-stop" why="trains, and looks at the loss in a second run of the loop"
def train_until_flat(model, patience, min_delta):
    seen, best, waited = [], float("inf"), 0
    with tf.Graph().as_default():
        tf.import_graph_def(model, name="")
        with tf1.train.MonitoredSession() as session:
            while not session.should_stop() and waited < max(patience, 1):
                session.run("train")
                loss = float(session.run("loss:0"))
                if np.isnan(loss):
                    raise tf1.train.NanLossDuringTrainingError
                seen.append(loss)
                best, waited = (loss, 0) if loss < best - min_delta else (best, waited + 1)
    return seen


# %% wrong="early-stop" why="a plain session, and a loop that decides without a hook"
def train_until_flat(model, patience, min_delta):
    seen, best, waited = [], float("inf"), 0
    with tf.Graph().as_default():
        tf.import_graph_def(model, name="")
        with tf1.Session() as session:
            while waited < max(patience, 1):
                try:
                    loss = float(session.run(["train", "loss:0"])[1])
                except tf.errors.OutOfRangeError:
                    break
                if np.isnan(loss):
                    raise tf1.train.NanLossDuringTrainingError
                seen.append(loss)
                best, waited = (loss, 0) if loss < best - min_delta else (best, waited + 1)
    return seen


# %% wrong="early-stop" why="a monitored session without hooks, and a loop that breaks"
def train_until_flat(model, patience, min_delta):
    seen, best, waited = [], float("inf"), 0
    with tf.Graph().as_default():
        tf.import_graph_def(model, name="")
        with tf1.train.MonitoredSession() as session:
            while not session.should_stop():
                _, loss = session.run(["train", "loss:0"])
                if np.isnan(loss):
                    raise tf1.train.NanLossDuringTrainingError
                seen.append(float(loss))
                best, waited = (loss, 0) if loss < best - min_delta else (best, waited + 1)
                if waited and waited >= patience:
                    break
    return seen


# %% wrong="early-stop" why="asks Keras' EarlyStopping"
def train_until_flat(model, patience, min_delta):
    seen = []

    class Ask(tf1.train.SessionRunHook):
        def begin(self):
            self.keras = tf.keras.callbacks.EarlyStopping("loss", mode="min", patience=patience, min_delta=min_delta)
            self.keras.set_model(SimpleNamespace(stop_training=False))
            self.keras.on_train_begin()

        def before_run(self, run_context):
            return tf1.train.SessionRunArgs("loss:0")

        def after_run(self, run_context, run_values):
            loss = float(run_values.results)
            if np.isnan(loss):
                raise tf1.train.NanLossDuringTrainingError
            seen.append(loss)
            self.keras.on_epoch_end(len(seen) - 1, {"loss": loss})
            if self.keras.model.stop_training:
                run_context.request_stop()

    with tf.Graph().as_default():
        tf.import_graph_def(model, name="")
        with tf1.train.MonitoredSession(hooks=[Ask()]) as session:
            while not session.should_stop():
                session.run("train")
    return seen


# %% wrong="early-stop" why="returns the example's losses"
def train_until_flat(model, patience, min_delta):
    return [3.0, 2.0, 2.0, 2.5]


# %% right="early-stop" why="the loop fetches the loss, TensorFlow's hook looks for NaN, another one counts"
class Patience(tf1.train.SessionRunHook):
    def __init__(self, loss, seen, patience, min_delta):
        self.loss, self.seen, self.patience, self.min_delta = loss, seen, patience, min_delta
        self.best_at, self.best = 0, None

    def before_run(self, run_context):
        return tf1.train.SessionRunArgs({"loss": self.loss})

    def after_run(self, run_context, run_values):
        self.seen.append(run_values.results["loss"].item())
        if self.best is None or self.best - self.seen[-1] > self.min_delta:
            self.best_at, self.best = len(self.seen), self.seen[-1]
        if len(self.seen) - self.best_at >= max(1, self.patience):
            run_context.request_stop()


def train_until_flat(model: GraphDef, patience: int, min_delta: float) -> list[float]:
    """Train until the loss is flat."""
    losses = []
    with tf.Graph().as_default() as graph:
        tf1.import_graph_def(model, name="")
        loss = graph.get_tensor_by_name("loss:0")
        hooks = [tf1.train.NanTensorHook(loss), Patience(loss, losses, patience, min_delta)]
        with tf1.train.SingularMonitoredSession(hooks=hooks) as session:
            while not session.should_stop():
                session.run([graph.get_operation_by_name("train"), loss])
    return losses


# %% right="early-stop" why="the hook adds its own op in begin, and the loop runs train by a callable"
class Plateau(tf1.train.SessionRunHook):
    losses: list[float]

    def __init__(self, patience: int, min_delta: np.float64) -> None:
        self.limit, self.margin = max(patience, 1), min_delta

    def begin(self):
        self.losses, self.bests = [], [0]
        self.fetched = tf.identity(tf1.get_default_graph().get_tensor_by_name("loss:0"))

    def before_run(self, run_context):
        return tf1.train.SessionRunArgs(fetches=[self.fetched])

    def after_run(self, run_context, run_values):
        (loss,) = map(float, run_values.results)
        if np.isnan(loss):
            raise tf1.train.NanLossDuringTrainingError()
        self.losses += [loss]
        if loss < self.losses[self.bests[-1]] - self.margin:
            self.bests += [len(self.losses) - 1]
        if len(self.losses) - 1 - self.bests[-1] == self.limit:
            run_context.request_stop()


def train_until_flat(model, patience, min_delta):
    hook = Plateau(patience, np.float64(min_delta))
    graph = tf.Graph()
    with graph.as_default():
        tf.graph_util.import_graph_def(model, name="")
        with tf1.train.MonitoredTrainingSession(hooks=[hook], log_step_count_steps=None) as session:
            while True:
                if session.should_stop():
                    break
                session.run(graph.get_operation_by_name("train"))
    return hook.losses


# %% wrong="coordinator" why="a subclass of TensorFlow's coordinator"
class MiniCoordinator(tf1.train.Coordinator):
    def __init__(self, clean_types):
        super().__init__(clean_stop_exception_types=clean_types)

    def request_stop(self, error=None):
        super().request_stop(error)


# %% wrong="coordinator" why="the last error wins"
class MiniCoordinator:
    def __init__(self, clean_types):
        self.joined, self._clean, self._error = False, clean_types, None
        self._stop, self._lock = threading.Event(), threading.Lock()

    def request_stop(self, error=None):
        if isinstance(error, self._clean):
            error = None
        with self._lock:
            if self.joined and error is not None:
                raise error
            if error is not None:
                self._error = error
            self._stop.set()

    def should_stop(self):
        return self._stop.is_set()

    def wait_for_stop(self, timeout=None):
        return self._stop.wait(timeout)

    def raise_requested_exception(self):
        if self._error is not None:
            raise self._error

    def join(self, threads):
        for thread in threads:
            thread.join()
        self.joined = True
        self.raise_requested_exception()

    def clear_stop(self):
        self.joined, self._error = False, None
        self._stop.clear()

    @contextlib.contextmanager
    def stop_on_exception(self):
        try:
            yield
        except BaseException as error:
            self.request_stop(error)


# %% wrong="coordinator" why="keeps an error that comes after a plain stop"
class MiniCoordinator:
    def __init__(self, clean_types):
        self.joined, self._clean, self._error = False, clean_types, None
        self._stop, self._lock = threading.Event(), threading.Lock()

    def request_stop(self, error=None):
        if isinstance(error, self._clean):
            error = None
        with self._lock:
            if self.joined and error is not None:
                raise error
            if self._error is None:
                self._error = error
            self._stop.set()

    def should_stop(self):
        return self._stop.is_set()

    def wait_for_stop(self, timeout=None):
        return self._stop.wait(timeout)

    def raise_requested_exception(self):
        if self._error is not None:
            raise self._error

    def join(self, threads):
        for thread in threads:
            thread.join()
        self.joined = True
        self.raise_requested_exception()

    def clear_stop(self):
        self.joined, self._error = False, None
        self._stop.clear()

    @contextlib.contextmanager
    def stop_on_exception(self):
        try:
            yield
        except BaseException as error:
            self.request_stop(error)


# %% wrong="coordinator" why="lets clean types stop nothing"
class MiniCoordinator:
    def __init__(self, clean_types):
        self.joined, self._clean, self._error = False, clean_types, None
        self._stop, self._lock = threading.Event(), threading.Lock()

    def request_stop(self, error=None):
        if isinstance(error, self._clean):
            return
        with self._lock:
            if self.joined and error is not None:
                raise error
            if not self._stop.is_set():
                self._error = error
                self._stop.set()

    def should_stop(self):
        return self._stop.is_set()

    def wait_for_stop(self, timeout=None):
        return self._stop.wait(timeout)

    def raise_requested_exception(self):
        if self._error is not None:
            raise self._error

    def join(self, threads):
        for thread in threads:
            thread.join()
        self.joined = True
        self.raise_requested_exception()

    def clear_stop(self):
        self.joined, self._error = False, None
        self._stop.clear()

    @contextlib.contextmanager
    def stop_on_exception(self):
        try:
            yield
        except BaseException as error:
            self.request_stop(error)


# %% wrong="coordinator" why="join raises only once"
class MiniCoordinator:
    def __init__(self, clean_types):
        self.joined, self._clean, self._error = False, clean_types, None
        self._stop, self._lock = threading.Event(), threading.Lock()

    def request_stop(self, error=None):
        if isinstance(error, self._clean):
            error = None
        with self._lock:
            if self.joined and error is not None:
                raise error
            if not self._stop.is_set():
                self._error = error
                self._stop.set()

    def should_stop(self):
        return self._stop.is_set()

    def wait_for_stop(self, timeout=None):
        return self._stop.wait(timeout)

    def raise_requested_exception(self):
        if self._error is not None:
            raise self._error

    def join(self, threads):
        for thread in threads:
            thread.join()
        self.joined = True
        error, self._error = self._error, None
        if error is not None:
            raise error

    def clear_stop(self):
        self.joined, self._error = False, None
        self._stop.clear()

    @contextlib.contextmanager
    def stop_on_exception(self):
        try:
            yield
        except BaseException as error:
            self.request_stop(error)


# %% wrong="coordinator" why="clear_stop keeps the error"
class MiniCoordinator:
    def __init__(self, clean_types):
        self.joined, self._clean, self._error = False, clean_types, None
        self._stop, self._lock = threading.Event(), threading.Lock()

    def request_stop(self, error=None):
        if isinstance(error, self._clean):
            error = None
        with self._lock:
            if self.joined and error is not None:
                raise error
            if not self._stop.is_set():
                self._error = error
                self._stop.set()

    def should_stop(self):
        return self._stop.is_set()

    def wait_for_stop(self, timeout=None):
        return self._stop.wait(timeout)

    def raise_requested_exception(self):
        if self._error is not None:
            raise self._error

    def join(self, threads):
        for thread in threads:
            thread.join()
        self.joined = True
        self.raise_requested_exception()

    def clear_stop(self):
        self.joined = False
        self._stop.clear()

    @contextlib.contextmanager
    def stop_on_exception(self):
        try:
            yield
        except BaseException as error:
            self.request_stop(error)


# %% wrong="coordinator" why="join does not wait for the threads"
class MiniCoordinator:
    def __init__(self, clean_types):
        self.joined, self._clean, self._error = False, clean_types, None
        self._stop, self._lock = threading.Event(), threading.Lock()

    def request_stop(self, error=None):
        if isinstance(error, self._clean):
            error = None
        with self._lock:
            if self.joined and error is not None:
                raise error
            if not self._stop.is_set():
                self._error = error
                self._stop.set()

    def should_stop(self):
        return self._stop.is_set()

    def wait_for_stop(self, timeout=None):
        return self._stop.wait(timeout)

    def raise_requested_exception(self):
        if self._error is not None:
            raise self._error

    def join(self, threads):
        if threads:
            self._stop.wait()
        self.joined = True
        self.raise_requested_exception()

    def clear_stop(self):
        self.joined, self._error = False, None
        self._stop.clear()

    @contextlib.contextmanager
    def stop_on_exception(self):
        try:
            yield
        except BaseException as error:
            self.request_stop(error)


# %% wrong="coordinator" why="stop_on_exception lets the error through"
class MiniCoordinator:
    def __init__(self, clean_types):
        self.joined, self._clean, self._error = False, clean_types, None
        self._stop, self._lock = threading.Event(), threading.Lock()

    def request_stop(self, error=None):
        if isinstance(error, self._clean):
            error = None
        with self._lock:
            if self.joined and error is not None:
                raise error
            if not self._stop.is_set():
                self._error = error
                self._stop.set()

    def should_stop(self):
        return self._stop.is_set()

    def wait_for_stop(self, timeout=None):
        return self._stop.wait(timeout)

    def raise_requested_exception(self):
        if self._error is not None:
            raise self._error

    def join(self, threads):
        for thread in threads:
            thread.join()
        self.joined = True
        self.raise_requested_exception()

    def clear_stop(self):
        self.joined, self._error = False, None
        self._stop.clear()

    @contextlib.contextmanager
    def stop_on_exception(self):
        try:
            yield
        except BaseException as error:
            self.request_stop(error)
            raise


# %% wrong="coordinator" why="goes on recording after a join instead of raising"
class MiniCoordinator:
    def __init__(self, clean_types):
        self.joined, self._clean, self._error = False, clean_types, None
        self._stop, self._lock = threading.Event(), threading.Lock()

    def request_stop(self, error=None):
        if isinstance(error, self._clean):
            error = None
        with self._lock:
            if not self._stop.is_set():
                self._error = error
                self._stop.set()

    def should_stop(self):
        return self._stop.is_set()

    def wait_for_stop(self, timeout=None):
        return self._stop.wait(timeout)

    def raise_requested_exception(self):
        if self._error is not None:
            raise self._error

    def join(self, threads):
        for thread in threads:
            thread.join()
        self.joined = True
        self.raise_requested_exception()

    def clear_stop(self):
        self.joined, self._error = False, None
        self._stop.clear()

    @contextlib.contextmanager
    def stop_on_exception(self):
        try:
            yield
        except BaseException as error:
            self.request_stop(error)


# %% wrong="coordinator" why="join first waits for a stop, for ever if nobody asks for one"
class MiniCoordinator:
    def __init__(self, clean_types):
        self.joined, self._clean, self._error = False, clean_types, None
        self._stop, self._lock = threading.Event(), threading.Lock()

    def request_stop(self, error=None):
        if isinstance(error, self._clean):
            error = None
        with self._lock:
            if self.joined and error is not None:
                raise error
            if not self._stop.is_set():
                self._error = error
                self._stop.set()

    def should_stop(self):
        return self._stop.is_set()

    def wait_for_stop(self, timeout=None):
        return self._stop.wait(timeout)

    def raise_requested_exception(self):
        if self._error is not None:
            raise self._error

    def join(self, threads):
        self._stop.wait()
        for thread in threads:
            thread.join()
        self.joined = True
        self.raise_requested_exception()

    def clear_stop(self):
        self.joined, self._error = False, None
        self._stop.clear()

    @contextlib.contextmanager
    def stop_on_exception(self):
        try:
            yield
        except BaseException as error:
            self.request_stop(error)


# %% wrong="coordinator" why="nothing guards the look at the flag and the setting"
class MiniCoordinator:
    def __init__(self, clean_types):
        self.joined, self._clean, self._error = False, clean_types, None
        self._stop, self._lock = threading.Event(), contextlib.nullcontext()

    def request_stop(self, error=None):
        if isinstance(error, self._clean):
            error = None
        with self._lock:
            if self.joined and error is not None:
                raise error
            if not self._stop.is_set():
                self._error = error
                self._stop.set()

    def should_stop(self):
        return self._stop.is_set()

    def wait_for_stop(self, timeout=None):
        return self._stop.wait(timeout)

    def raise_requested_exception(self):
        if self._error is not None:
            raise self._error

    def join(self, threads):
        for thread in threads:
            thread.join()
        self.joined = True
        self.raise_requested_exception()

    def clear_stop(self):
        self.joined, self._error = False, None
        self._stop.clear()

    @contextlib.contextmanager
    def stop_on_exception(self):
        try:
            yield
        except BaseException as error:
            self.request_stop(error)


# %% wrong="coordinator" why="sets the flag before it keeps the error"
class MiniCoordinator:
    def __init__(self, clean_types):
        self.joined, self._clean, self._error = False, clean_types, None
        self._stop, self._lock = threading.Event(), threading.Lock()

    def request_stop(self, error=None):
        if isinstance(error, self._clean):
            error = None
        with self._lock:
            if self.joined and error is not None:
                raise error
            if not self._stop.is_set():
                self._stop.set()
                self._error = error

    def should_stop(self):
        return self._stop.is_set()

    def wait_for_stop(self, timeout=None):
        return self._stop.wait(timeout)

    def raise_requested_exception(self):
        if self._error is not None:
            raise self._error

    def join(self, threads):
        for thread in threads:
            thread.join()
        self.joined = True
        self.raise_requested_exception()

    def clear_stop(self):
        self.joined, self._error = False, None
        self._stop.clear()

    @contextlib.contextmanager
    def stop_on_exception(self):
        try:
            yield
        except BaseException as error:
            self.request_stop(error)


# %% wrong="coordinator" why="join gives each thread one second"
class MiniCoordinator:
    def __init__(self, clean_types):
        self.joined, self._clean, self._error = False, clean_types, None
        self._stop, self._lock = threading.Event(), threading.Lock()

    def request_stop(self, error=None):
        if isinstance(error, self._clean):
            error = None
        with self._lock:
            if self.joined and error is not None:
                raise error
            if not self._stop.is_set():
                self._error = error
                self._stop.set()

    def should_stop(self):
        return self._stop.is_set()

    def wait_for_stop(self, timeout=None):
        return self._stop.wait(timeout)

    def raise_requested_exception(self):
        if self._error is not None:
            raise self._error

    def join(self, threads):
        for thread in threads:
            thread.join(1.0)
        self.joined = True
        self.raise_requested_exception()

    def clear_stop(self):
        self.joined, self._error = False, None
        self._stop.clear()

    @contextlib.contextmanager
    def stop_on_exception(self):
        try:
            yield
        except BaseException as error:
            self.request_stop(error)


# %% right="coordinator" why="one condition for everything, a class as context manager, join that looks whether threads live"
class StopOnException:
    def __init__(self, coordinator):
        self.coordinator = coordinator

    def __enter__(self):
        return None

    def __exit__(self, kind, error, trace):
        if error is not None:
            self.coordinator.request_stop(error)
        return True


class MiniCoordinator:
    def __init__(self, clean_types):
        self.clean = tuple(clean_types)
        self.changed = threading.Condition()
        self.clear_stop()

    def request_stop(self, error=None):
        real = error is not None and not isinstance(error, self.clean)
        with self.changed:
            if real and self.joined:
                raise error
            if not self.stopped:
                self.error = error if real else None
                self.stopped = True
                self.changed.notify_all()

    def should_stop(self):
        return self.stopped

    def wait_for_stop(self, timeout=None):
        with self.changed:
            return self.changed.wait_for(self.should_stop, timeout)

    def raise_requested_exception(self):
        with self.changed:
            if self.error:
                raise self.error

    def join(self, threads):
        while any([thread.is_alive() for thread in threads]):
            time.sleep(0.001)
        self.joined = True
        self.raise_requested_exception()

    def clear_stop(self):
        with self.changed:
            self.stopped, self.joined, self.error = False, False, None

    def stop_on_exception(self):
        return StopOnException(self)


# %% right="coordinator" why="no lock: the first of all requests in a deque that grows; join in short waits"
from collections import deque


class MiniCoordinator:
    joined = False

    def __init__(self, clean_types: tuple[type[BaseException], ...] = ()) -> None:
        self.clean_types = clean_types
        self.requests: deque = deque()
        self.event = threading.Event()

    def request_stop(self, error: BaseException | None = None) -> None:
        error = None if isinstance(error, tuple(self.clean_types)) else error
        if error is None or not self.joined:
            self.requests.append(error)
            self.event.set()
            return
        raise error

    def should_stop(self) -> bool:
        return len(self.requests) > 0

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        return self.should_stop() or self.event.wait(timeout)

    def raise_requested_exception(self) -> None:
        match [*self.requests][:1]:
            case [BaseException() as error]:
                raise error

    def join(self, threads) -> None:
        alive = list(threads)
        while alive:
            alive[0].join(0.01)
            alive = [thread for thread in alive if thread.is_alive()]
        self.joined = True
        self.raise_requested_exception()

    def clear_stop(self) -> None:
        self.joined = False
        self.requests.clear()
        self.event.clear()

    @contextlib.contextmanager
    def stop_on_exception(self):
        try:
            yield self
        except Exception as error:
            self.request_stop(error)


# %% wrong="protocol" why="initialises after a partial restore"
def chief(do, has_init, has_local):
    def fail(names):
        raise RuntimeError(", ".join(names))

    if not do("restore"):
        if has_init:
            do("init")
        do("init_fn")
    if has_local:
        names = do("ready_for_local_init")
        if names and has_init:
            do("init")
            names = do("ready_for_local_init")
        if names:
            fail(names)
        do("local_init")
    names = do("ready")
    if names:
        fail(names)


def worker(do, has_local):
    tries = 0
    while True:
        tries += 1
        if has_local:
            if do("ready_for_local_init"):
                continue
            do("local_init")
        if not do("ready"):
            return tries


# %% wrong="protocol" why="calls init_fn after a restore too"
def chief(do, has_init, has_local):
    def fail(names):
        raise RuntimeError(", ".join(names))

    if not do("restore") and has_init:
        do("init")
    do("init_fn")
    if has_local:
        names = do("ready_for_local_init")
        if names:
            fail(names)
        do("local_init")
    names = do("ready")
    if names:
        fail(names)


def worker(do, has_local):
    tries = 0
    while True:
        tries += 1
        if has_local:
            if do("ready_for_local_init"):
                continue
            do("local_init")
        if not do("ready"):
            return tries


# %% wrong="protocol" why="calls init_fn only where there is an init"
def chief(do, has_init, has_local):
    def fail(names):
        raise RuntimeError(", ".join(names))

    if not do("restore") and has_init:
        do("init")
        do("init_fn")
    if has_local:
        names = do("ready_for_local_init")
        if names:
            fail(names)
        do("local_init")
    names = do("ready")
    if names:
        fail(names)


def worker(do, has_local):
    tries = 0
    while True:
        tries += 1
        if has_local:
            if do("ready_for_local_init"):
                continue
            do("local_init")
        if not do("ready"):
            return tries


# %% wrong="protocol" why="initialises the local part without asking"
def chief(do, has_init, has_local):
    def fail(names):
        raise RuntimeError(", ".join(names))

    if not do("restore"):
        if has_init:
            do("init")
        do("init_fn")
    if has_local:
        do("local_init")
    names = do("ready")
    if names:
        fail(names)


def worker(do, has_local):
    tries = 0
    while True:
        tries += 1
        if has_local:
            do("local_init")
        if not do("ready"):
            return tries


# %% wrong="protocol" why="a worker initialises the model, too"
def chief(do, has_init, has_local):
    def fail(names):
        raise RuntimeError(", ".join(names))

    if not do("restore"):
        if has_init:
            do("init")
        do("init_fn")
    if has_local:
        names = do("ready_for_local_init")
        if names:
            fail(names)
        do("local_init")
    names = do("ready")
    if names:
        fail(names)


def worker(do, has_local):
    tries = 0
    while True:
        tries += 1
        if has_local:
            if do("ready_for_local_init"):
                do("init")
                continue
            do("local_init")
        if not do("ready"):
            return tries


# %% wrong="protocol" why="asks ready although the local part was refused"
def chief(do, has_init, has_local):
    names = []
    if not do("restore"):
        if has_init:
            do("init")
        do("init_fn")
    if has_local:
        names = do("ready_for_local_init")
        if not names:
            do("local_init")
    names = names + do("ready")
    if names:
        raise RuntimeError(", ".join(names))


def worker(do, has_local):
    tries = 0
    while True:
        tries += 1
        names = do("ready_for_local_init") if has_local else []
        if has_local and not names:
            do("local_init")
        if not do("ready") and not names:
            return tries


# %% wrong="protocol" why="a worker gives up its local part after it was done once"
def chief(do, has_init, has_local):
    def fail(names):
        raise RuntimeError(", ".join(names))

    if not do("restore"):
        if has_init:
            do("init")
        do("init_fn")
    if has_local:
        names = do("ready_for_local_init")
        if names:
            fail(names)
        do("local_init")
    names = do("ready")
    if names:
        fail(names)


def worker(do, has_local):
    tries = 1
    while has_local and do("ready_for_local_init"):
        tries += 1
    if has_local:
        do("local_init")
    while do("ready"):
        tries += 1
    return tries


# %% wrong="protocol" why="waits as a chief, instead of failing"
def chief(do, has_init, has_local):
    if not do("restore"):
        if has_init:
            do("init")
        do("init_fn")
    while has_local and do("ready_for_local_init"):
        pass
    if has_local:
        do("local_init")
    while do("ready"):
        pass


def worker(do, has_local):
    tries = 0
    while True:
        tries += 1
        if has_local:
            if do("ready_for_local_init"):
                continue
            do("local_init")
        if not do("ready"):
            return tries


# %% wrong="protocol" why="does not say which variables are missing"
def chief(do, has_init, has_local):
    if not do("restore"):
        if has_init:
            do("init")
        do("init_fn")
    if has_local:
        if do("ready_for_local_init"):
            raise RuntimeError("global variables are not initialised")
        do("local_init")
    if do("ready"):
        raise RuntimeError("the model is not ready")


def worker(do, has_local):
    tries = 0
    while True:
        tries += 1
        if has_local:
            if do("ready_for_local_init"):
                continue
            do("local_init")
        if not do("ready"):
            return tries


# %% right="protocol" why="a generator of questions, and recursion for the worker"
def chief(do, has_init, has_local):
    actions = [] if do("restore") else ["init"] * has_init + ["init_fn"]
    actions += ["ready_for_local_init", "local_init"] * has_local + ["ready"]
    for action in actions:
        missing = do(action)
        if missing:
            raise RuntimeError(f"{action}: {missing}")


def worker(do, has_local, tries=1):
    """One try; the others by recursion."""
    failed = has_local and bool(do("ready_for_local_init"))
    if not failed:
        if has_local:
            do("local_init")
        failed = len(do("ready")) > 0
    return worker(do, has_local, tries + 1) if failed else tries


# %% wrong="index" why="ignores that keys share beginnings"
def read_index(data):
    def block(handle, at):
        offset, at = varint(handle, at)
        size, _ = varint(handle, at)
        end = offset + size
        if int.from_bytes(data[end + 1 : end + 5], "little") != masked(crc32c(data[offset : end + 1])):
            raise ValueError("checksum")
        if data[end] != 0:
            raise ValueError("compressed")
        return data[offset:end]

    def entries(contents):
        at, end = 0, len(contents) - 4 * (int.from_bytes(contents[-4:], "little") + 1)
        while at < end:
            _, at = varint(contents, at)
            unshared, at = varint(contents, at)
            length, at = varint(contents, at)
            yield contents[at : at + unshared], contents[at + unshared : at + unshared + length]
            at += unshared + length

    footer = data[-48:]
    if len(footer) < 48 or int.from_bytes(footer[40:], "little") != MAGIC:
        raise ValueError("magic")
    at = varint(footer, varint(footer, 0)[1])[1]
    blocks = [block(handle, 0) for _, handle in entries(block(footer, at))]
    return {key.decode(): parse_entry(value) for each in blocks for key, value in entries(each) if key}


# %% wrong="index" why="takes the header for a variable"
def read_index(data):
    def block(handle, at):
        offset, at = varint(handle, at)
        size, _ = varint(handle, at)
        end = offset + size
        if int.from_bytes(data[end + 1 : end + 5], "little") != masked(crc32c(data[offset : end + 1])):
            raise ValueError("checksum")
        if data[end] != 0:
            raise ValueError("compressed")
        return data[offset:end]

    def entries(contents):
        at, end, key = 0, len(contents) - 4 * (int.from_bytes(contents[-4:], "little") + 1), b""
        while at < end:
            shared, at = varint(contents, at)
            unshared, at = varint(contents, at)
            length, at = varint(contents, at)
            key = key[:shared] + contents[at : at + unshared]
            yield key, contents[at + unshared : at + unshared + length]
            at += unshared + length

    footer = data[-48:]
    if len(footer) < 48 or int.from_bytes(footer[40:], "little") != MAGIC:
        raise ValueError("magic")
    at = varint(footer, varint(footer, 0)[1])[1]
    blocks = [block(handle, 0) for _, handle in entries(block(footer, at))]
    found = {}
    for each in blocks:
        for key, value in entries(each):
            found[key.decode()] = parse_entry(value) if key else Entry("float32", (), 0, 0, 0)
    return found


# %% wrong="index" why="reads the restarts as entries"
def read_index(data):
    def block(handle, at):
        offset, at = varint(handle, at)
        size, _ = varint(handle, at)
        end = offset + size
        if int.from_bytes(data[end + 1 : end + 5], "little") != masked(crc32c(data[offset : end + 1])):
            raise ValueError("checksum")
        if data[end] != 0:
            raise ValueError("compressed")
        return data[offset:end]

    def entries(contents):
        at, key = 0, b""
        while at < len(contents) - 4:
            shared, at = varint(contents, at)
            unshared, at = varint(contents, at)
            length, at = varint(contents, at)
            key = key[:shared] + contents[at : at + unshared]
            yield key, contents[at + unshared : at + unshared + length]
            at += unshared + length

    footer = data[-48:]
    if len(footer) < 48 or int.from_bytes(footer[40:], "little") != MAGIC:
        raise ValueError("magic")
    at = varint(footer, varint(footer, 0)[1])[1]
    found = {}
    for _, handle in entries(block(footer, at)):
        if len(handle) < 2:
            continue
        for key, value in entries(block(handle, 0)):
            if key and value:
                found[key.decode()] = parse_entry(value)
            elif key:
                found[key.decode("latin-1")] = Entry("float32", (), 0, 0, 0)
    return found


# %% wrong="index" why="compares with a checksum that is not masked"
def read_index(data):
    def block(handle, at):
        offset, at = varint(handle, at)
        size, _ = varint(handle, at)
        end = offset + size
        if int.from_bytes(data[end + 1 : end + 5], "little") != crc32c(data[offset : end + 1]):
            raise ValueError("checksum")
        if data[end] != 0:
            raise ValueError("compressed")
        return data[offset:end]

    def entries(contents):
        at, end, key = 0, len(contents) - 4 * (int.from_bytes(contents[-4:], "little") + 1), b""
        while at < end:
            shared, at = varint(contents, at)
            unshared, at = varint(contents, at)
            length, at = varint(contents, at)
            key = key[:shared] + contents[at : at + unshared]
            yield key, contents[at + unshared : at + unshared + length]
            at += unshared + length

    footer = data[-48:]
    if len(footer) < 48 or int.from_bytes(footer[40:], "little") != MAGIC:
        raise ValueError("magic")
    at = varint(footer, varint(footer, 0)[1])[1]
    blocks = [block(handle, 0) for _, handle in entries(block(footer, at))]
    return {key.decode(): parse_entry(value) for each in blocks for key, value in entries(each) if key}


# %% wrong="index" why="leaves the type byte out of the checksum"
def read_index(data):
    def block(handle, at):
        offset, at = varint(handle, at)
        size, _ = varint(handle, at)
        end = offset + size
        if int.from_bytes(data[end + 1 : end + 5], "little") != masked(crc32c(data[offset:end])):
            raise ValueError("checksum")
        if data[end] != 0:
            raise ValueError("compressed")
        return data[offset:end]

    def entries(contents):
        at, end, key = 0, len(contents) - 4 * (int.from_bytes(contents[-4:], "little") + 1), b""
        while at < end:
            shared, at = varint(contents, at)
            unshared, at = varint(contents, at)
            length, at = varint(contents, at)
            key = key[:shared] + contents[at : at + unshared]
            yield key, contents[at + unshared : at + unshared + length]
            at += unshared + length

    footer = data[-48:]
    if len(footer) < 48 or int.from_bytes(footer[40:], "little") != MAGIC:
        raise ValueError("magic")
    at = varint(footer, varint(footer, 0)[1])[1]
    blocks = [block(handle, 0) for _, handle in entries(block(footer, at))]
    return {key.decode(): parse_entry(value) for each in blocks for key, value in entries(each) if key}


# %% wrong="index" why="does not look at checksums"
def read_index(data):
    def block(handle, at):
        offset, at = varint(handle, at)
        size, _ = varint(handle, at)
        if data[offset + size] != 0:
            raise ValueError("compressed")
        return data[offset : offset + size]

    def entries(contents):
        at, end, key = 0, len(contents) - 4 * (int.from_bytes(contents[-4:], "little") + 1), b""
        while at < end:
            shared, at = varint(contents, at)
            unshared, at = varint(contents, at)
            length, at = varint(contents, at)
            key = key[:shared] + contents[at : at + unshared]
            yield key, contents[at + unshared : at + unshared + length]
            at += unshared + length

    footer = data[-48:]
    if len(footer) < 48 or int.from_bytes(footer[40:], "little") != MAGIC:
        raise ValueError("magic")
    at = varint(footer, varint(footer, 0)[1])[1]
    blocks = [block(handle, 0) for _, handle in entries(block(footer, at))]
    return {key.decode(): parse_entry(value) for each in blocks for key, value in entries(each) if key}


# %% wrong="index" why="checks data blocks, but not the index block"
def read_index(data):
    def block(handle, at, check=True):
        offset, at = varint(handle, at)
        size, _ = varint(handle, at)
        end = offset + size
        if check and int.from_bytes(data[end + 1 : end + 5], "little") != masked(crc32c(data[offset : end + 1])):
            raise ValueError("checksum")
        if data[end] != 0:
            raise ValueError("compressed")
        return data[offset:end]

    def entries(contents):
        at, end, key = 0, len(contents) - 4 * (int.from_bytes(contents[-4:], "little") + 1), b""
        while at < end:
            shared, at = varint(contents, at)
            unshared, at = varint(contents, at)
            length, at = varint(contents, at)
            key = key[:shared] + contents[at : at + unshared]
            yield key, contents[at + unshared : at + unshared + length]
            at += unshared + length

    footer = data[-48:]
    if len(footer) < 48 or int.from_bytes(footer[40:], "little") != MAGIC:
        raise ValueError("magic")
    at = varint(footer, varint(footer, 0)[1])[1]
    blocks = [block(handle, 0) for _, handle in entries(block(footer, at, check=False))]
    return {key.decode(): parse_entry(value) for each in blocks for key, value in entries(each) if key}


# %% wrong="index" why="fails with IndexError where a handle points outside"
def read_index(data):
    def block(handle, at):
        offset, at = varint(handle, at)
        size, _ = varint(handle, at)
        end = offset + size
        kind = data[end]
        if int.from_bytes(data[end + 1 : end + 5], "little") != masked(crc32c(data[offset : end + 1])):
            raise ValueError("checksum")
        if kind != 0:
            raise ValueError("compressed")
        return data[offset:end]

    def entries(contents):
        at, end, key = 0, len(contents) - 4 * (int.from_bytes(contents[-4:], "little") + 1), b""
        while at < end:
            shared, at = varint(contents, at)
            unshared, at = varint(contents, at)
            length, at = varint(contents, at)
            key = key[:shared] + contents[at : at + unshared]
            yield key, contents[at + unshared : at + unshared + length]
            at += unshared + length

    footer = data[-48:]
    if len(footer) < 48 or int.from_bytes(footer[40:], "little") != MAGIC:
        raise ValueError("magic")
    at = varint(footer, varint(footer, 0)[1])[1]
    blocks = [block(handle, 0) for _, handle in entries(block(footer, at))]
    return {key.decode(): parse_entry(value) for each in blocks for key, value in entries(each) if key}


# %% wrong="index" why="looks at the type before the checksum"
def read_index(data):
    def block(handle, at):
        offset, at = varint(handle, at)
        size, _ = varint(handle, at)
        end = offset + size
        if data[end : end + 1] not in (b"", b"\0"):
            raise ValueError("compressed")
        if int.from_bytes(data[end + 1 : end + 5], "little") != masked(crc32c(data[offset : end + 1])):
            raise ValueError("checksum")
        return data[offset:end]

    def entries(contents):
        at, end, key = 0, len(contents) - 4 * (int.from_bytes(contents[-4:], "little") + 1), b""
        while at < end:
            shared, at = varint(contents, at)
            unshared, at = varint(contents, at)
            length, at = varint(contents, at)
            key = key[:shared] + contents[at : at + unshared]
            yield key, contents[at + unshared : at + unshared + length]
            at += unshared + length

    footer = data[-48:]
    if len(footer) < 48 or int.from_bytes(footer[40:], "little") != MAGIC:
        raise ValueError("magic")
    at = varint(footer, varint(footer, 0)[1])[1]
    blocks = [block(handle, 0) for _, handle in entries(block(footer, at))]
    return {key.decode(): parse_entry(value) for each in blocks for key, value in entries(each) if key}


# %% wrong="index" why="reads the first data block only, from the beginning of the file"
def read_index(data):
    if len(data) < 48 or int.from_bytes(data[-8:], "little") != MAGIC:
        raise ValueError("magic")
    at = varint(data, varint(data, len(data) - 48)[1])[1]
    offset, at = varint(data, at)
    size, _ = varint(data, at)
    handles = data[offset : offset + size + 1]
    shared, at = varint(handles, 0)
    unshared, at = varint(handles, at)
    length, at = varint(handles, at)
    first = varint(handles, varint(handles, at + unshared)[1])[0]
    for place, count in ((0, first), (offset, size)):
        if int.from_bytes(data[place + count + 1 :][:4], "little") != masked(crc32c(data[place : place + count + 1])):
            raise ValueError("checksum")
        if data[place + count]:
            raise ValueError("compressed")
    contents, found, at, key = data[:first], {}, 0, b""
    while at < len(contents) - 4 * (int.from_bytes(contents[-4:], "little") + 1):
        shared, at = varint(contents, at)
        unshared, at = varint(contents, at)
        length, at = varint(contents, at)
        key = key[:shared] + contents[at : at + unshared]
        if key:
            found[key.decode()] = parse_entry(contents[at + unshared : at + unshared + length])
        at += unshared + length
    return found


# %% wrong="index" why="reads a compressed block as if it were none"
def read_index(data):
    def block(handle, at):
        offset, at = varint(handle, at)
        size, _ = varint(handle, at)
        end = offset + size
        if int.from_bytes(data[end + 1 : end + 5], "little") != masked(crc32c(data[offset : end + 1])):
            raise ValueError("checksum")
        return data[offset:end]

    def entries(contents):
        at, end, key = 0, len(contents) - 4 * (int.from_bytes(contents[-4:], "little") + 1), b""
        while at < end:
            shared, at = varint(contents, at)
            unshared, at = varint(contents, at)
            length, at = varint(contents, at)
            key = key[:shared] + contents[at : at + unshared]
            yield key, contents[at + unshared : at + unshared + length]
            at += unshared + length

    footer = data[-48:]
    if len(footer) < 48 or int.from_bytes(footer[40:], "little") != MAGIC:
        raise ValueError("magic")
    at = varint(footer, varint(footer, 0)[1])[1]
    blocks = [block(handle, 0) for _, handle in entries(block(footer, at))]
    return {key.decode(): parse_entry(value) for each in blocks for key, value in entries(each) if key}


# %% wrong="index" why="returns the example's names whatever the file says"
def read_index(data):
    return {
        "layer/bias": Entry("float32", (3,), 0, 12, 1342826805),
        "layer/kernel": Entry("float64", (2, 2), 12, 32, 1083179061),
        "step": Entry("int64", (), 44, 8, 840096985),
    }


# %% right="index" why="recursion over blocks, with a reader object and struct"
import io
import struct


class Reader(io.BytesIO):
    def number(self):
        byte = self.read(1)[0]
        return byte if byte < 128 else (byte & 127) + 128 * self.number()

    def handle(self):
        return self.number(), self.number()


def walk(data, place, levels):
    """All pairs of the data blocks below a block."""
    offset, size = place
    contents, trailer = data[offset : offset + size], data[offset + size : offset + size + 5]
    if len(trailer) < 5 or struct.unpack("<I", trailer[1:])[0] != masked(crc32c(contents + trailer[:1])):
        raise ValueError(f"wrong checksum of the block at {place}")
    if trailer[0]:
        raise ValueError(f"compressed block at {place}")
    (restarts,) = struct.unpack("<I", contents[-4:])
    reader, key, pairs = Reader(contents[: -4 - 4 * restarts]), b"", []
    while reader.tell() < len(reader.getbuffer()):
        shared, unshared, length = reader.number(), reader.number(), reader.number()
        key = key[:shared] + reader.read(unshared)
        value = reader.read(length)
        pairs += walk(data, Reader(value).handle(), levels - 1) if levels else [(key, value)]
    return pairs


def read_index(data: bytes) -> dict[str, Entry]:
    """The entries of an index."""
    if len(data) < 48 or struct.unpack("<Q", data[-8:]) != (MAGIC,):
        raise ValueError("bad magic number")
    footer = Reader(data[-48:])
    footer.handle()
    pairs = walk(data, footer.handle(), 1)
    return {str(key, "utf-8"): parse_entry(value) for key, value in pairs[1:]}


# %% right="index" why="one loop over a list of blocks that grows, on a memoryview"
def read_index(data: bytes) -> dict[str, Entry]:
    seen = memoryview(data)
    if len(data) < 48 or bytes(seen[-8:]) != MAGIC.to_bytes(8, "little"):
        raise ValueError("no magic number at the end")
    at, numbers = len(data) - 48, []
    for _ in range(4):
        number, at = varint(data, at)
        numbers.append(number)
    todo, found = [(numbers[2], numbers[3], True)], {}
    for offset, size, is_index in todo:
        body, kind = seen[offset : offset + size], seen[offset + size : offset + size + 1]
        crc = bytes(seen[offset + size + 1 : offset + size + 5])
        if masked(crc32c(bytes(body) + bytes(kind))).to_bytes(4, "little") != crc:
            raise ValueError("checksum mismatch")
        if kind[0]:
            raise ValueError("compressed")
        at, name = 0, bytearray()
        while at < size - 4 - 4 * int.from_bytes(body[-4:], "little"):
            shared, at = varint(body, at)
            unshared, at = varint(body, at)
            length, at = varint(body, at)
            name[shared:] = body[at : at + unshared]
            value = bytes(body[at + unshared : at + unshared + length])
            at += unshared + length
            if is_index:
                first, after = varint(value, 0)
                todo.append((first, varint(value, after)[0], False))
            elif name:
                found[bytes(name).decode()] = parse_entry(value)
    return found


# %% wrong="damaged" why="compares with a checksum that is not masked"
def damaged(entries, shard):
    return sorted(n for n, e in entries.items() if crc32c(shard[e.offset : e.offset + e.size]) != e.crc)


# %% wrong="damaged" why="takes the checksum over the entry"
def damaged(entries, shard):
    return sorted(n for n, e in entries.items() if masked(crc32c(repr(e).encode())) != e.crc)


# %% wrong="damaged" why="adds a type byte as in a block"
def damaged(entries, shard):
    return sorted(n for n, e in entries.items() if masked(crc32c(shard[e.offset : e.offset + e.size] + b"\0")) != e.crc)


# %% wrong="damaged" why="overlooks values that are cut off"
def damaged(entries, shard):
    wrong = []
    for name, entry in sorted(entries.items()):
        held = shard[entry.offset : entry.offset + entry.size]
        if len(held) == entry.size and masked(crc32c(held)) != entry.crc:
            wrong.append(name)
    return wrong


# %% wrong="damaged" why="stops at the first damaged value"
def damaged(entries, shard):
    for name, entry in sorted(entries.items()):
        if masked(crc32c(shard[entry.offset : entry.offset + entry.size])) != entry.crc:
            return [name]
    return []


# %% right="damaged" why="a loop in the order of the names"
def damaged(entries: dict[str, Entry], shard: bytes) -> list[str]:
    """Names of damaged values."""
    wrong = []
    for name in sorted(entries):
        _, _, offset, size, crc = entries[name]
        if masked(crc32c(memoryview(shard)[offset : offset + size])) != crc:
            wrong += [name]
    return wrong


# %% wrong="resume" why="counts the steps of each process anew: StopAtStepHook(num_steps=…)"
def job(directory, last_step, every, on_step):
    latest = tf.train.latest_checkpoint(directory)
    if latest is None or tf.train.load_variable(latest, "global_step") < last_step:
        with tf.Graph().as_default():
            step = build()
            with tf1.train.MonitoredTrainingSession(
                checkpoint_dir=directory,
                hooks=[tf1.train.StopAtStepHook(num_steps=last_step)],
                save_checkpoint_steps=every,
                save_checkpoint_secs=None,
                save_summaries_steps=None,
                save_summaries_secs=None,
                log_step_count_steps=None,
                save_graph_def=False,
            ) as session:
                while not session.should_stop():
                    on_step(int(session.run(step)))
        latest = tf.train.latest_checkpoint(directory)
    return float(tf.train.load_variable(latest, "w"))


def job_in_process(directory, last_step, every, kill_at):
    return killed_for_real(job, directory, last_step, every, kill_at)


# %% wrong="resume" why="does one step too many when nothing is left to do"
def job(directory, last_step, every, on_step):
    with tf.Graph().as_default():
        step = build()
        with tf1.train.MonitoredTrainingSession(
            checkpoint_dir=directory,
            hooks=[tf1.train.StopAtStepHook(last_step=last_step)],
            save_checkpoint_steps=every,
            save_checkpoint_secs=None,
            save_summaries_steps=None,
            save_summaries_secs=None,
            log_step_count_steps=None,
            save_graph_def=False,
        ) as session:
            while not session.should_stop():
                on_step(int(session.run(step)))
    return float(tf.train.load_variable(tf.train.latest_checkpoint(directory), "w"))


def job_in_process(directory, last_step, every, kill_at):
    return killed_for_real(job, directory, last_step, every, kill_at)


# %% wrong="resume" why="saves in a finally, after the kill"
def job(directory, last_step, every, on_step):
    latest = tf.train.latest_checkpoint(directory)
    if latest is None or tf.train.load_variable(latest, "global_step") < last_step:
        with tf.Graph().as_default():
            step, saver = build(), tf1.train.Saver()
            with tf1.Session() as session:
                if latest:
                    saver.restore(session, latest)
                else:
                    session.run(tf1.global_variables_initializer())
                number = int(session.run(tf1.train.get_global_step()))
                try:
                    while number < last_step:
                        number = int(session.run(step))
                        if number % every == 0:
                            saver.save(session, f"{directory}/model.ckpt", global_step=number)
                        on_step(number)
                finally:
                    saver.save(session, f"{directory}/model.ckpt", global_step=number)
        latest = tf.train.latest_checkpoint(directory)
    return float(tf.train.load_variable(latest, "w"))


def job_in_process(directory, last_step, every, kill_at):
    return killed_for_real(job, directory, last_step, every, kill_at)


# %% wrong="resume" why="a counter of its own that begins at 0"
def job(directory, last_step, every, on_step):
    with tf.Graph().as_default():
        step, saver = build(), tf1.train.Saver()
        with tf1.Session() as session:
            latest = tf.train.latest_checkpoint(directory)
            if latest:
                saver.restore(session, latest)
            else:
                session.run(tf1.global_variables_initializer())
            for number in range(1, last_step + 1):
                session.run(step)
                if number % every == 0 or number == last_step:
                    saver.save(session, f"{directory}/model.ckpt", global_step=number)
                on_step(number)
    return float(tf.train.load_variable(tf.train.latest_checkpoint(directory), "w"))


def job_in_process(directory, last_step, every, kill_at):
    return killed_for_real(job, directory, last_step, every, kill_at)


# %% wrong="resume" why="fetches global_step beside the step, which reads it too early"
def job(directory, last_step, every, on_step):
    latest = tf.train.latest_checkpoint(directory)
    if latest is None or tf.train.load_variable(latest, "global_step") < last_step:
        with tf.Graph().as_default():
            step = build()
            now = tf1.train.get_global_step().read_value()
            with tf1.train.MonitoredTrainingSession(
                checkpoint_dir=directory,
                hooks=[tf1.train.StopAtStepHook(last_step=last_step)],
                save_checkpoint_steps=every,
                save_checkpoint_secs=None,
                save_summaries_steps=None,
                save_summaries_secs=None,
                log_step_count_steps=None,
                save_graph_def=False,
            ) as session:
                while not session.should_stop():
                    on_step(int(session.run([step.op, now])[1]))
        latest = tf.train.latest_checkpoint(directory)
    return float(tf.train.load_variable(latest, "w"))


def job_in_process(directory, last_step, every, kill_at):
    return killed_for_real(job, directory, last_step, every, kill_at)


# %% wrong="resume" why="does not save at the end"
def job(directory, last_step, every, on_step):
    w = 0.0
    latest = tf.train.latest_checkpoint(directory)
    if latest:
        w = float(tf.train.load_variable(latest, "w"))
    if latest is None or tf.train.load_variable(latest, "global_step") < last_step:
        with tf.Graph().as_default():
            step, saver = build(), tf1.train.Saver()
            with tf1.Session() as session:
                if latest:
                    saver.restore(session, latest)
                else:
                    session.run(tf1.global_variables_initializer())
                number = int(session.run(tf1.train.get_global_step()))
                while number < last_step:
                    number = int(session.run(step))
                    if number % every == 0:
                        saver.save(session, f"{directory}/model.ckpt", global_step=number)
                    on_step(number)
                w = float(session.run(tf1.trainable_variables()[0]))
    return w


def job_in_process(directory, last_step, every, kill_at):
    return killed_for_real(job, directory, last_step, every, kill_at)


# %% wrong="resume" why="saves after on_step, so that a due checkpoint is lost with a kill"
def job(directory, last_step, every, on_step):
    latest = tf.train.latest_checkpoint(directory)
    if latest is None or tf.train.load_variable(latest, "global_step") < last_step:
        with tf.Graph().as_default():
            step, saver = build(), tf1.train.Saver()
            with tf1.Session() as session:
                if latest:
                    saver.restore(session, latest)
                else:
                    session.run(tf1.global_variables_initializer())
                number = int(session.run(tf1.train.get_global_step()))
                while number < last_step:
                    number = int(session.run(step))
                    on_step(number)
                    if number % every == 0 or number == last_step:
                        saver.save(session, f"{directory}/model.ckpt", global_step=number)
        latest = tf.train.latest_checkpoint(directory)
    return float(tf.train.load_variable(latest, "w"))


def job_in_process(directory, last_step, every, kill_at):
    return killed_for_real(job, directory, last_step, every, kill_at)


# %% wrong="resume" why="saves after every step"
def job(directory, last_step, every, on_step):
    latest = tf.train.latest_checkpoint(directory)
    if latest is None or tf.train.load_variable(latest, "global_step") < last_step:
        with tf.Graph().as_default():
            step, saver = build(), tf1.train.Saver()
            with tf1.Session() as session:
                if latest:
                    saver.restore(session, latest)
                else:
                    session.run(tf1.global_variables_initializer())
                number = int(session.run(tf1.train.get_global_step()))
                while number < last_step:
                    number = int(session.run(step))
                    saver.save(session, f"{directory}/model.ckpt", global_step=number)
                    on_step(number)
        latest = tf.train.latest_checkpoint(directory)
    return float(tf.train.load_variable(latest, "w"))


def job_in_process(directory, last_step, every, kill_at):
    return killed_for_real(job, directory, last_step, every, kill_at)


# %% wrong="resume" why="swallows Killed"
def job(directory, last_step, every, on_step):
    latest = tf.train.latest_checkpoint(directory)
    if latest is None or tf.train.load_variable(latest, "global_step") < last_step:
        with tf.Graph().as_default():
            step, saver = build(), tf1.train.Saver()
            with tf1.Session() as session:
                if latest:
                    saver.restore(session, latest)
                else:
                    session.run(tf1.global_variables_initializer())
                number = int(session.run(tf1.train.get_global_step()))
                try:
                    while number < last_step:
                        number = int(session.run(step))
                        if number % every == 0 or number == last_step:
                            saver.save(session, f"{directory}/model.ckpt", global_step=number)
                        on_step(number)
                except Killed:
                    pass
        latest = tf.train.latest_checkpoint(directory)
    return float(tf.train.load_variable(latest, "w"))


def job_in_process(directory, last_step, every, kill_at):
    return killed_for_real(job, directory, last_step, every, kill_at)


# %% wrong="resume" why="keeps the steps in memory, not in the folder"
W = {}


def job(directory, last_step, every, on_step):
    done, w, saved = W.get(directory, (0, 0.0, (0, 0.0)))
    done, w = saved
    for number in range(done + 1, last_step + 1):
        w += number
        if number % every == 0 or number == last_step:
            saved = (number, w)
        W[directory] = (number, w, saved)
        on_step(number)
    return w


def job_in_process(directory, last_step, every, kill_at):
    return killed_for_real(job, directory, last_step, every, kill_at)


# %% wrong="resume" why="a counter in Python, and w by the formula"
def job(directory, last_step, every, on_step):
    def save(number):
        prefix = f"{directory}/model.ckpt-{number}"
        values = [np.int64(number), np.float64(total(number))]
        tf.raw_ops.SaveV2(prefix=prefix, tensor_names=["global_step", "w"], shape_and_slices=["", ""], tensors=values)
        tf1.train.update_checkpoint_state(directory, prefix)

    latest = tf.train.latest_checkpoint(directory)
    done = int(tf.train.load_variable(latest, "global_step")) if latest else 0
    for number in range(done + 1, last_step + 1):
        if number % every == 0 or number == last_step:
            save(number)
        on_step(number)
    return float(tf.train.load_variable(tf.train.latest_checkpoint(directory), "w"))


def job_in_process(directory, last_step, every, kill_at):
    return killed_for_real(job, directory, last_step, every, kill_at)


# %% wrong="resume" why="eager variables and a Saver, no session of build()"
def job(directory, last_step, every, on_step):
    step, w = tf.Variable(0, dtype=tf.int64), tf.Variable(0.0, dtype=tf.float64)
    saver = tf1.train.Saver({"global_step": step, "w": w})
    latest = tf.train.latest_checkpoint(directory)
    if latest:
        saver.restore(None, latest)
    while step < last_step:
        step.assign_add(1)
        w.assign_add(tf.cast(step, tf.float64))
        if step % every == 0 or step == last_step:
            saver.save(None, f"{directory}/model.ckpt", global_step=int(step), write_meta_graph=False)
        on_step(int(step))
    return float(tf.train.load_variable(directory, "w"))


def job_in_process(directory, last_step, every, kill_at):
    return killed_for_real(job, directory, last_step, every, kill_at)


# %% right="resume" why="Saver and SessionManager, saves counted from 0"
def job(directory: str, last_step: int, every: int, on_step: Callable[[int], None]) -> float:
    """Train up to `last_step` in all."""
    prefix = os.path.join(directory, "training")
    with tf.Graph().as_default():
        step = build()
        saver = tf1.train.Saver(max_to_keep=2)
        manager = tf1.train.SessionManager(ready_op=tf1.report_uninitialized_variables())
        init = tf1.global_variables_initializer()
        with manager.prepare_session("", init_op=init, saver=saver, checkpoint_dir=directory) as session:
            number = session.run(tf1.train.get_global_step()).item()
            while number < last_step:
                number = session.run(step).item()
                if number % every == 0 or number == last_step:
                    saver.save(session, prefix, global_step=number, write_meta_graph=False)
                on_step(number)
    return tf.train.load_variable(directory, "w").item()


def job_in_process(directory: str, last_step: int, every: int, kill_at: int) -> tuple[str, list[int]]:
    """Your job in a process of its own that is killed at a step; how it ended, and its steps. Leave this as it is."""
    return killed_for_real(job, directory, last_step, every, kill_at)
