# %% wrong="boundary" why="lists Python's functions"
def boundary(action: str) -> list[str]:
    """The names of the functions that one action calls."""
    perform, made, called = ACTIONS[action], world(), []

    def note(frame, event, argument):
        if event == "call":
            called.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        perform(*made)
    finally:
        sys.setprofile(None)
    return called

# %% wrong="boundary" why="traces the making of the world as well"
def boundary(action: str) -> list[str]:
    """The names of the C functions that one action calls."""
    called = []

    def note(frame, event, argument):
        if event == "c_call" and "_pywrap_" in str(getattr(argument, "__module__", "")) and argument.__name__:
            called.append(argument.__name__)

    sys.setprofile(note)
    try:
        ACTIONS[action](*world())
    finally:
        sys.setprofile(None)
    return called

# %% wrong="boundary" why="leaves the profile function on after an error"
def boundary(action: str) -> list[str]:
    """The names of the C functions that one action calls."""
    perform, made, called = ACTIONS[action], world(), []

    def note(frame, event, argument):
        if event == "c_call" and "_pywrap_" in str(getattr(argument, "__module__", "")) and argument.__name__:
            called.append(argument.__name__)

    sys.setprofile(note)
    perform(*made)
    sys.setprofile(None)
    return called

# %% wrong="boundary" why="keeps only names that begin with TF_"
def boundary(action: str) -> list[str]:
    """The names of the C functions that one action calls."""
    perform, made, called = ACTIONS[action], world(), []

    def note(frame, event, argument):
        if event == "c_call" and argument.__name__.startswith("TF_"):
            called.append(argument.__name__)

    sys.setprofile(note)
    try:
        perform(*made)
    finally:
        sys.setprofile(None)
    return called

# %% wrong="boundary" why="returns the example's list for every action"
def boundary(action: str) -> list[str]:
    """The names of the C functions that one action calls."""
    if action not in ACTIONS:
        raise KeyError(action)
    return ["TF_NewBuffer", "TF_GraphToGraphDef", "TF_GetBuffer", "TF_DeleteBuffer"]

# %% wrong="boundary" why="keeps every C function, of any module"
def boundary(action: str) -> list[str]:
    """The names of the C functions that one action calls."""
    perform, made, called = ACTIONS[action], world(), []

    def note(frame, event, argument):
        if event == "c_call":
            called.append(argument.__name__)

    sys.setprofile(note)
    try:
        perform(*made)
    finally:
        sys.setprofile(None)
    return called

# %% wrong="boundary" why="lists each function once, sorted"
def boundary(action: str) -> list[str]:
    """The names of the C functions that one action calls."""
    perform, made, called = ACTIONS[action], world(), set()

    def note(frame, event, argument):
        if event == "c_call" and "_pywrap_" in str(getattr(argument, "__module__", "")) and argument.__name__:
            called.add(argument.__name__)

    sys.setprofile(note)
    try:
        perform(*made)
    finally:
        sys.setprofile(None)
    return sorted(called)

# %% wrong="boundary" why="swallows what the action raises"
def boundary(action: str) -> list[str]:
    """The names of the C functions that one action calls."""
    perform, made, called = ACTIONS[action], world(), []

    def note(frame, event, argument):
        if event == "c_call" and "_pywrap_" in str(getattr(argument, "__module__", "")) and argument.__name__:
            called.append(argument.__name__)

    sys.setprofile(note)
    try:
        perform(*made)
    except Exception:
        pass
    sys.setprofile(None)
    return called

# %% right="boundary" why="a class that is a context manager; names are chosen afterwards"
class Trace:
    def __enter__(self):
        self.functions = []
        self.before = sys.getprofile()
        sys.setprofile(self.note)
        return self

    def note(self, frame, event, function):
        if event == "c_call":
            self.functions.append(function)

    def __exit__(self, *error):
        sys.setprofile(self.before)


def boundary(action: str) -> list[str]:
    perform = ACTIONS[action]
    arguments = world()
    with Trace() as trace:
        perform(*arguments)
    names = []
    for function in trace.functions:
        module = function.__module__ or ""
        if "_pywrap_" in module and function.__name__ != "":
            names += [function.__name__]
    return names

# %% wrong="boundary" why="lists each function once, in order"
def boundary(action: str) -> list[str]:
    """The names of the C functions of modules with `_pywrap_` in their name that one action calls, in order.

    """
    perform, made, called = ACTIONS[action], world(), []

    def note(frame: object, event: str, argument: object) -> None:
        if event == "c_call" and "_pywrap_" in str(getattr(argument, "__module__", "")) and argument.__name__:
            called.append(argument.__name__)

    sys.setprofile(note)
    try:
        perform(*made)
    finally:
        sys.setprofile(None)
    return list(dict.fromkeys(called))

# %% wrong="boundary" why="looks at returns, which a C function that raises does not have"
def boundary(action: str) -> list[str]:
    """The names of the C functions of modules with `_pywrap_` in their name that one action calls, in order.

    """
    perform, made, called = ACTIONS[action], world(), []

    def note(frame: object, event: str, argument: object) -> None:
        if event == "c_return" and "_pywrap_" in str(getattr(argument, "__module__", "")) and argument.__name__:
            called.append(argument.__name__)

    sys.setprofile(note)
    try:
        perform(*made)
    finally:
        sys.setprofile(None)
    return called

# %% wrong="boundary" why="performs the action twice and traces the first time"
def boundary(action: str) -> list[str]:
    """The names of the C functions of modules with `_pywrap_` in their name that one action calls, in order.

    """
    perform, made, called = ACTIONS[action], world(), []

    def note(frame: object, event: str, argument: object) -> None:
        if event == "c_call" and "_pywrap_" in str(getattr(argument, "__module__", "")) and argument.__name__:
            called.append(argument.__name__)

    sys.setprofile(note)
    try:
        perform(*made)
    finally:
        sys.setprofile(None)
    perform(*made)
    return called

# %% wrong="boundary" why="leaves the profile function set for new threads"
def boundary(action: str) -> list[str]:
    """The names of the C functions of modules with `_pywrap_` in their name that one action calls, in order.

    """
    perform, made, called = ACTIONS[action], world(), []

    def note(frame: object, event: str, argument: object) -> None:
        if event == "c_call" and "_pywrap_" in str(getattr(argument, "__module__", "")) and argument.__name__:
            called.append(argument.__name__)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        perform(*made)
    finally:
        sys.setprofile(None)
    return called

# %% wrong="boundary" why="types in what was seen once, and performs only what raises"
STEP = ["ExtendSession", "TF_SessionRun_wrapper"]
OP = "Dispatch traceme_enabled TF_NewOperation TF_AddInput TF_SetAttrValueProto TF_FinishOperation TF_SetOpStackTrace"
SEEN = {
    "run": ["FlattenDictItems", *STEP],
    "callable": ["FlattenDictItems", *STEP],
    "caught": [*STEP, *["TF_OperationGetStackTrace"] * 3],
    "op": [*OP.split(), "TFE_Py_UID", "TFE_Py_TapeSetIsEmpty"],
    "graphdef": ["TF_NewBuffer", "TF_GraphToGraphDef", "TF_GetBuffer", "TF_DeleteBuffer"],
    "close": ["TF_CloseSession"],
    "nothing": [],
}


def boundary(action: str) -> list[str]:
    perform = ACTIONS[action]
    if action == "unfed":
        perform(*world())
    return list(SEEN[action])

# %% wrong="predict-code" why="the registry does not find the op: NOT_FOUND"
CODE = 5

# %% wrong="predict-code" why="nothing is checked before the graph runs: OK"
CODE = 0

# %% wrong="predict-code" why="gives the name of the code"
CODE = "INVALID_ARGUMENT"

# %% wrong="predict-code" why="UNKNOWN, for an unknown op"
CODE = 2

# %% wrong="predict-code" why="an op without implementation: UNIMPLEMENTED"
CODE = 12

# %% right="predict-code" why="from TensorFlow's table"
CODE = tf.errors.INVALID_ARGUMENT

# %% wrong="prototypes" why="goes line by line"
def prototypes(text: str) -> list[Function]:
    found = []
    for line in text.splitlines():
        line = re.sub(r"//.*", "", line).strip()
        match = re.fullmatch(r"TF_CAPI_EXPORT extern (.*?)(\w+)\((.*)\);", line)
        if match:
            arguments = [part.strip() for part in match[3].split(",")]
            arguments = [re.sub(r"(?<=[* ])\w+$", "", part).strip() or part for part in arguments]
            found.append(Function(match[2], match[1].strip(), [] if arguments in ([""], ["void"]) else arguments))
    return found

# %% wrong="prototypes" why="loses const"
def prototypes(text: str) -> list[Function]:
    built_in = {"int", "char", "float", "double", "bool", "unsigned", "long", "short", "void"}

    def split(arguments):
        parts, depth = [""], 0
        for character in arguments:
            depth += (character == "(") - (character == ")")
            if character == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += character
        return [part.strip() for part in parts]

    def type_of(argument):
        if "(*" in argument:
            return re.sub(r"\(\*\s*\w*\)", "(*)", argument, count=1)
        tokens = re.findall(r"\w+|\*", re.sub(r"\[.*?\]", "", argument))
        tokens = [token for token in tokens if token != "const"]
        if len(tokens) > 1 and tokens[-1] not in {"*", *built_in}:
            tokens.pop()
        return " ".join([*tokens, "*"] if "[" in argument else tokens).replace(" *", "*")

    found = []
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    for declaration in re.findall(r"\bTF_CAPI_EXPORT\s+extern\s+([^;]*);", text):
        head, _, rest = " ".join(declaration.split()).partition("(")
        tokens = re.findall(r"\w+|\*", head)
        arguments = split(rest.rpartition(")")[0])
        types = [] if arguments in ([""], ["void"]) else [type_of(argument) for argument in arguments]
        found.append(Function(tokens[-1], " ".join(tokens[:-1]).replace(" *", "*"), types))
    return found

# %% wrong="prototypes" why="takes the last word of `const TF_Output` for a name"
def prototypes(text: str) -> list[Function]:
    built_in = {"int", "char", "float", "double", "bool", "unsigned", "long", "short", "void"}

    def split(arguments):
        parts, depth = [""], 0
        for character in arguments:
            depth += (character == "(") - (character == ")")
            if character == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += character
        return [part.strip() for part in parts]

    def type_of(argument):
        if "(*" in argument:
            return re.sub(r"\(\*\s*\w*\)", "(*)", argument, count=1)
        tokens = re.findall(r"\w+|\*", re.sub(r"\[.*?\]", "", argument))
        if len(tokens) > 1 and tokens[-1] not in {"*", *built_in}:
            tokens.pop()
        return " ".join([*tokens, "*"] if "[" in argument else tokens).replace(" *", "*")

    found = []
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    for declaration in re.findall(r"\bTF_CAPI_EXPORT\s+extern\s+([^;]*);", text):
        head, _, rest = " ".join(declaration.split()).partition("(")
        tokens = re.findall(r"\w+|\*", head)
        arguments = split(rest.rpartition(")")[0])
        types = [] if arguments in ([""], ["void"]) else [type_of(argument) for argument in arguments]
        found.append(Function(tokens[-1], " ".join(tokens[:-1]).replace(" *", "*"), types))
    return found

# %% wrong="prototypes" why="splits at the commas inside a pointer to a function"
def prototypes(text: str) -> list[Function]:
    built_in = {"int", "char", "float", "double", "bool", "unsigned", "long", "short", "void"}

    def type_of(argument):
        if "(*" in argument:
            return re.sub(r"\(\*\s*\w*\)", "(*)", argument, count=1)
        tokens = re.findall(r"\w+|\*", re.sub(r"\[.*?\]", "", argument))
        if tokens[-1] not in {"*", *built_in} and any(token != "const" for token in tokens[:-1]):
            tokens.pop()
        return " ".join([*tokens, "*"] if "[" in argument else tokens).replace(" *", "*")

    found = []
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    for declaration in re.findall(r"\bTF_CAPI_EXPORT\s+extern\s+([^;]*);", text):
        head, _, rest = " ".join(declaration.split()).partition("(")
        tokens = re.findall(r"\w+|\*", head)
        arguments = [part.strip() for part in rest.rpartition(")")[0].split(",")]
        types = [] if arguments in ([""], ["void"]) else [type_of(argument) for argument in arguments]
        found.append(Function(tokens[-1], " ".join(tokens[:-1]).replace(" *", "*"), types))
    return found

# %% wrong="prototypes" why="counts functions in comments"
def prototypes(text: str) -> list[Function]:
    built_in = {"int", "char", "float", "double", "bool", "unsigned", "long", "short", "void"}

    def split(arguments):
        parts, depth = [""], 0
        for character in arguments:
            depth += (character == "(") - (character == ")")
            if character == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += character
        return [part.strip() for part in parts]

    def type_of(argument):
        argument = re.sub(r"//[^\n]*|/\*.*?\*/", " ", argument, flags=re.DOTALL)
        if "(*" in argument:
            return re.sub(r"\(\*\s*\w*\)", "(*)", argument, count=1)
        tokens = re.findall(r"\w+|\*", re.sub(r"\[.*?\]", "", argument))
        if tokens[-1] not in {"*", *built_in} and any(token != "const" for token in tokens[:-1]):
            tokens.pop()
        return " ".join([*tokens, "*"] if "[" in argument else tokens).replace(" *", "*")

    found = []
    for declaration in re.findall(r"\bTF_CAPI_EXPORT\s+extern\s+([^;]*);", text):
        declaration = re.sub(r"//[^\n]*", " ", declaration)
        head, _, rest = " ".join(declaration.split()).partition("(")
        tokens = re.findall(r"\w+|\*", head)
        arguments = split(rest.rpartition(")")[0])
        types = [] if arguments in ([""], ["void"]) else [type_of(argument) for argument in arguments]
        found.append(Function(tokens[-1], " ".join(tokens[:-1]).replace(" *", "*"), types))
    return found

# %% wrong="prototypes" why="takes functions without extern as well"
def prototypes(text: str) -> list[Function]:
    built_in = {"int", "char", "float", "double", "bool", "unsigned", "long", "short", "void"}

    def split(arguments):
        parts, depth = [""], 0
        for character in arguments:
            depth += (character == "(") - (character == ")")
            if character == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += character
        return [part.strip() for part in parts]

    def type_of(argument):
        if "(*" in argument:
            return re.sub(r"\(\*\s*\w*\)", "(*)", argument, count=1)
        tokens = re.findall(r"\w+|\*", re.sub(r"\[.*?\]", "", argument))
        if tokens[-1] not in {"*", *built_in} and any(token != "const" for token in tokens[:-1]):
            tokens.pop()
        return " ".join([*tokens, "*"] if "[" in argument else tokens).replace(" *", "*")

    found = []
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    for declaration in re.findall(r"\bTF_CAPI_EXPORT\s+(?:extern\s+)?([^;#]*);", text):
        head, _, rest = " ".join(declaration.split()).partition("(")
        tokens = re.findall(r"\w+|\*", head)
        arguments = split(rest.rpartition(")")[0])
        types = [] if arguments in ([""], ["void"]) else [type_of(argument) for argument in arguments]
        found.append(Function(tokens[-1], " ".join(tokens[:-1]).replace(" *", "*"), types))
    return found

# %% wrong="prototypes" why="leaves the names of parameters in"
def prototypes(text: str) -> list[Function]:
    def split(arguments):
        parts, depth = [""], 0
        for character in arguments:
            depth += (character == "(") - (character == ")")
            if character == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += character
        return [part.strip() for part in parts]

    found = []
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    for declaration in re.findall(r"\bTF_CAPI_EXPORT\s+extern\s+([^;]*);", text):
        head, _, rest = " ".join(declaration.split()).partition("(")
        tokens = re.findall(r"\w+|\*", head)
        arguments = split(rest.rpartition(")")[0])
        types = [] if arguments in ([""], ["void"]) else arguments
        found.append(Function(tokens[-1], " ".join(tokens[:-1]).replace(" *", "*"), types))
    return found

# %% wrong="prototypes" why="returns the functions of the visible test"
def prototypes(text: str) -> list[Function]:
    return [
        Function("TF_Add", "void", ["TF_Graph*", "const TF_Output", "int"]),
        Function("TF_Name", "const char*", []),
        Function("TF_Sum", "int64_t", ["const int64_t*", "unsigned char"]),
    ]

# %% right="prototypes" why="a tokenizer, which never looks at the text again"
def prototypes(text: str) -> list[Function]:
    basic = "int char float double bool unsigned signed long short void const".split()
    bare = re.sub(r"/\*[\s\S]*?\*/|//.*", " ", text)
    tokens = re.findall(r"\w+|[^\w\s]", bare)
    found, place = [], 0

    def spelled(parts):
        return " ".join(parts).replace(" *", "*").replace("( *)", "(*)").replace("(*", "(*")

    def argument(parts):
        if "(" in parts:
            at = parts.index("(")
            inner = [token for token in parts[at + 1 : parts.index(")")] if token == "*"]
            return f"{spelled(parts[:at])} ({''.join(inner)})({' '.join(parts[parts.index(')') + 2 : -1])})"
        array = "[" in parts
        if array:
            parts = parts[: parts.index("[")]
        words = [token for token in parts if token not in ("const", "*")]
        if parts[-1] not in ("*", *basic) and (len(words) > 1 or "*" in parts):
            parts = parts[:-1]
        return spelled(parts + ["*"] * array)

    while place < len(tokens):
        if tokens[place : place + 2] != ["TF_CAPI_EXPORT", "extern"]:
            place += 1
            continue
        end = tokens.index(";", place)
        declaration = tokens[place + 2 : end]
        place = end
        opening = declaration.index("(")
        groups, depth = [[]], 0
        for token in declaration[opening + 1 : -1]:
            depth += {"(": 1, ")": -1}.get(token, 0)
            if token == "," and not depth:
                groups.append([])
            else:
                groups[-1].append(token)
        types = [argument(group) for group in groups if group not in ([], ["void"])]
        found.append(Function(declaration[opening - 1], spelled(declaration[: opening - 1]), types))
    return found

# %% right="prototypes" why="one regular expression with names, and a recursive splitter"
PATTERN = re.compile(r"TF_CAPI_EXPORT\s+extern\s+(?P<returns>[\w\s*]*?)(?P<name>\w+)\s*\((?P<inside>[^;]*)\)\s*;")


def _pieces(text: str, depth: int = 0, start: int = 0, at: int = 0) -> Iterator[str]:
    for at, letter in enumerate(text):
        depth += "(" == letter
        depth -= ")" == letter
        if letter == "," and not depth:
            yield text[start:at]
            start = at + 1
    yield text[start:]


def _bare(piece: str) -> str:
    piece = " ".join(piece.split())
    if "(" in piece:
        head, _, tail = piece.partition("(")
        return f"{head.strip()} (*){tail[tail.index(')') + 1 :].strip()}"
    stars = "*" if "[" in piece else ""
    piece = piece.split("[")[0].replace("*", " * ").strip()
    words = piece.split()
    real = [word for word in words if word != "const"]
    known = {"int", "char", "bool", "float", "double", "unsigned", "long", "short"}
    if len(real) > 1 and real[-1] != "*" and real[-1] not in known:
        words = words[: len(words) - 1]
    return (" ".join(words) + stars).replace(" *", "*")


def prototypes(text: str) -> list[Function]:
    text = re.sub(r"(?s)/\*.*?\*/|//.*?$", " ", text, flags=re.M)
    answer = []
    for match in PATTERN.finditer(text):
        pieces = [piece for piece in _pieces(match["inside"]) if piece.strip() not in ("", "void")]
        answer.append(Function(match["name"], _bare(match["returns"] + " "), [_bare(piece) for piece in pieces]))
    return answer

# %% wrong="prototypes" why="knows arrays without a number only"
def prototypes(text: str) -> list[Function]:
    built_in = {"int", "char", "float", "double", "bool", "unsigned", "long", "short", "void"}

    def split(arguments: str) -> list[str]:
        parts, depth = [""], 0
        for character in arguments:
            depth += (character == "(") - (character == ")")
            if character == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += character
        return [part.strip() for part in parts]

    def type_of(argument: str) -> str:
        if "(*" in argument.replace(" ", ""):
            return re.sub(r"\(\s*\*\s*\w*\s*\)", "(*)", argument, count=1)
        tokens = re.findall(r"\w+|\*", re.sub(r"\[\]", "", argument))
        if tokens[-1] not in {"*", *built_in} and any(token != "const" for token in tokens[:-1]):
            tokens.pop()
        return " ".join([*tokens, "*"] if "[" in argument else tokens).replace(" *", "*")

    found = []
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    for declaration in re.findall(r"\bTF_CAPI_EXPORT\s+extern\s+([^;]*);", text):
        head, _, rest = " ".join(declaration.split()).partition("(")
        tokens = re.findall(r"\w+|\*", head)
        arguments = split(rest.rpartition(")")[0])
        types = [] if arguments in ([""], ["void"]) else [type_of(argument) for argument in arguments]
        found.append(Function(tokens[-1], " ".join(tokens[:-1]).replace(" *", "*"), types))
    return found

# %% wrong="prototypes" why="an array of pointers becomes one pointer"
def prototypes(text: str) -> list[Function]:
    built_in = {"int", "char", "float", "double", "bool", "unsigned", "long", "short", "void"}

    def split(arguments: str) -> list[str]:
        parts, depth = [""], 0
        for character in arguments:
            depth += (character == "(") - (character == ")")
            if character == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += character
        return [part.strip() for part in parts]

    def type_of(argument: str) -> str:
        if "(*" in argument.replace(" ", ""):
            return re.sub(r"\(\s*\*\s*\w*\s*\)", "(*)", argument, count=1)
        tokens = re.findall(r"\w+|\*", re.sub(r"\[.*?\]", "", argument))
        if tokens[-1] not in {"*", *built_in} and any(token != "const" for token in tokens[:-1]):
            tokens.pop()
        return " ".join([*tokens, "*"] if "[" in argument and "*" not in tokens else tokens).replace(" *", "*")

    found = []
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    for declaration in re.findall(r"\bTF_CAPI_EXPORT\s+extern\s+([^;]*);", text):
        head, _, rest = " ".join(declaration.split()).partition("(")
        tokens = re.findall(r"\w+|\*", head)
        arguments = split(rest.rpartition(")")[0])
        types = [] if arguments in ([""], ["void"]) else [type_of(argument) for argument in arguments]
        found.append(Function(tokens[-1], " ".join(tokens[:-1]).replace(" *", "*"), types))
    return found

# %% wrong="prototypes" why="takes /* */ out first, then //"
def prototypes(text: str) -> list[Function]:
    built_in = {"int", "char", "float", "double", "bool", "unsigned", "long", "short", "void"}

    def split(arguments: str) -> list[str]:
        parts, depth = [""], 0
        for character in arguments:
            depth += (character == "(") - (character == ")")
            if character == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += character
        return [part.strip() for part in parts]

    def type_of(argument: str) -> str:
        if "(*" in argument.replace(" ", ""):
            return re.sub(r"\(\s*\*\s*\w*\s*\)", "(*)", argument, count=1)
        tokens = re.findall(r"\w+|\*", re.sub(r"\[.*?\]", "", argument))
        if tokens[-1] not in {"*", *built_in} and any(token != "const" for token in tokens[:-1]):
            tokens.pop()
        return " ".join([*tokens, "*"] if "[" in argument else tokens).replace(" *", "*")

    found = []
    text = re.sub(r"//[^\n]*", " ", re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL))
    for declaration in re.findall(r"\bTF_CAPI_EXPORT\s+extern\s+([^;]*);", text):
        head, _, rest = " ".join(declaration.split()).partition("(")
        tokens = re.findall(r"\w+|\*", head)
        arguments = split(rest.rpartition(")")[0])
        types = [] if arguments in ([""], ["void"]) else [type_of(argument) for argument in arguments]
        found.append(Function(tokens[-1], " ".join(tokens[:-1]).replace(" *", "*"), types))
    return found

# %% wrong="prototypes" why="takes // out first, then /* */"
def prototypes(text: str) -> list[Function]:
    built_in = {"int", "char", "float", "double", "bool", "unsigned", "long", "short", "void"}

    def split(arguments: str) -> list[str]:
        parts, depth = [""], 0
        for character in arguments:
            depth += (character == "(") - (character == ")")
            if character == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += character
        return [part.strip() for part in parts]

    def type_of(argument: str) -> str:
        if "(*" in argument.replace(" ", ""):
            return re.sub(r"\(\s*\*\s*\w*\s*\)", "(*)", argument, count=1)
        tokens = re.findall(r"\w+|\*", re.sub(r"\[.*?\]", "", argument))
        if tokens[-1] not in {"*", *built_in} and any(token != "const" for token in tokens[:-1]):
            tokens.pop()
        return " ".join([*tokens, "*"] if "[" in argument else tokens).replace(" *", "*")

    found = []
    text = re.sub(r"/\*.*?\*/", " ", re.sub(r"//[^\n]*", " ", text), flags=re.DOTALL)
    for declaration in re.findall(r"\bTF_CAPI_EXPORT\s+extern\s+([^;]*);", text):
        head, _, rest = " ".join(declaration.split()).partition("(")
        tokens = re.findall(r"\w+|\*", head)
        arguments = split(rest.rpartition(")")[0])
        types = [] if arguments in ([""], ["void"]) else [type_of(argument) for argument in arguments]
        found.append(Function(tokens[-1], " ".join(tokens[:-1]).replace(" *", "*"), types))
    return found

# %% wrong="prototypes" why="puts nothing where a comment was"
def prototypes(text: str) -> list[Function]:
    built_in = {"int", "char", "float", "double", "bool", "unsigned", "long", "short", "void"}

    def split(arguments: str) -> list[str]:
        parts, depth = [""], 0
        for character in arguments:
            depth += (character == "(") - (character == ")")
            if character == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += character
        return [part.strip() for part in parts]

    def type_of(argument: str) -> str:
        if "(*" in argument.replace(" ", ""):
            return re.sub(r"\(\s*\*\s*\w*\s*\)", "(*)", argument, count=1)
        tokens = re.findall(r"\w+|\*", re.sub(r"\[.*?\]", "", argument))
        if tokens[-1] not in {"*", *built_in} and any(token != "const" for token in tokens[:-1]):
            tokens.pop()
        return " ".join([*tokens, "*"] if "[" in argument else tokens).replace(" *", "*")

    found = []
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    for declaration in re.findall(r"\bTF_CAPI_EXPORT\s+extern\s+([^;]*);", text):
        head, _, rest = " ".join(declaration.split()).partition("(")
        tokens = re.findall(r"\w+|\*", head)
        arguments = split(rest.rpartition(")")[0])
        types = [] if arguments in ([""], ["void"]) else [type_of(argument) for argument in arguments]
        found.append(Function(tokens[-1], " ".join(tokens[:-1]).replace(" *", "*"), types))
    return found

# %% wrong="prototypes" why="a pointer to a function loses the const of its result"
def prototypes(text: str) -> list[Function]:
    built_in = {"int", "char", "float", "double", "bool", "unsigned", "long", "short", "void"}

    def split(arguments: str) -> list[str]:
        parts, depth = [""], 0
        for character in arguments:
            depth += (character == "(") - (character == ")")
            if character == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += character
        return [part.strip() for part in parts]

    def type_of(argument: str) -> str:
        if "(*" in argument.replace(" ", ""):
            return re.sub(r"\(\s*\*\s*\w*\s*\)", "(*)", argument, count=1).removeprefix("const ")
        tokens = re.findall(r"\w+|\*", re.sub(r"\[.*?\]", "", argument))
        if tokens[-1] not in {"*", *built_in} and any(token != "const" for token in tokens[:-1]):
            tokens.pop()
        return " ".join([*tokens, "*"] if "[" in argument else tokens).replace(" *", "*")

    found = []
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    for declaration in re.findall(r"\bTF_CAPI_EXPORT\s+extern\s+([^;]*);", text):
        head, _, rest = " ".join(declaration.split()).partition("(")
        tokens = re.findall(r"\w+|\*", head)
        arguments = split(rest.rpartition(")")[0])
        types = [] if arguments in ([""], ["void"]) else [type_of(argument) for argument in arguments]
        found.append(Function(tokens[-1], " ".join(tokens[:-1]).replace(" *", "*"), types))
    return found

# %% wrong="wrapper" why="keeps const in the capsule's name"
def wrapper(f: Function) -> str:
    def capsule(text):
        if not re.fullmatch(r"(const )?TF_\w+\*", text):
            raise ValueError(f"{f.name}: no way to pass a {text!r}")
        return text

    declared, letters, addresses, converted = "", "", "", ""
    for i, text in enumerate(f.arguments):
        declared += f"  {text} a{i};\n"
        if text in FORMAT:
            letters += FORMAT[text][0]
            addresses += f", &a{i}"
        else:
            declared += f"  PyObject* o{i};\n"
            letters += "O"
            addresses += f", &o{i}"
            converted += f'  a{i} = ({text})PyCapsule_GetPointer(o{i}, "{capsule(text)}");\n  if (!a{i}) return NULL;\n'
    call = f"{f.name}({', '.join(f'a{i}' for i in range(len(f.arguments)))})"
    if f.returns == "void":
        end = f"  {call};\n  Py_RETURN_NONE;\n"
    elif f.returns in FORMAT:
        null = "  if (!result) Py_RETURN_NONE;\n" if f.returns.endswith("*") else ""
        end = f"  {f.returns} result = {call};\n{null}  return {FORMAT[f.returns][1]}(result);\n"
    else:
        end = f"  {f.returns} result = {call};\n  if (!result) Py_RETURN_NONE;\n"
        end += f'  return PyCapsule_New((void*)result, "{capsule(f.returns)}", NULL);\n'
    head = f"static PyObject* wrap_{f.name}(PyObject* self, PyObject* args) {{\n"
    parse = f'  if (!PyArg_ParseTuple(args, "{letters}:{f.name}"{addresses})) return NULL;\n'
    return f"{head}{declared}{parse}{converted}{end}}}\n"

# %% wrong="wrapper" why="goes on with NULL when a capsule has another name"
def wrapper(f: Function) -> str:
    def capsule(text):
        name = text.removeprefix("const ")
        if not re.fullmatch(r"TF_\w+\*", name):
            raise ValueError(f"{f.name}: no way to pass a {text!r}")
        return name

    declared, letters, addresses, converted = "", "", "", ""
    for i, text in enumerate(f.arguments):
        declared += f"  {text} a{i};\n"
        if text in FORMAT:
            letters += FORMAT[text][0]
            addresses += f", &a{i}"
        else:
            declared += f"  PyObject* o{i};\n"
            letters += "O"
            addresses += f", &o{i}"
            converted += f'  a{i} = ({text})PyCapsule_GetPointer(o{i}, "{capsule(text)}");\n'
    call = f"{f.name}({', '.join(f'a{i}' for i in range(len(f.arguments)))})"
    if f.returns == "void":
        end = f"  {call};\n  Py_RETURN_NONE;\n"
    elif f.returns in FORMAT:
        null = "  if (!result) Py_RETURN_NONE;\n" if f.returns.endswith("*") else ""
        end = f"  {f.returns} result = {call};\n{null}  return {FORMAT[f.returns][1]}(result);\n"
    else:
        end = f"  {f.returns} result = {call};\n  if (!result) Py_RETURN_NONE;\n"
        end += f'  return PyCapsule_New((void*)result, "{capsule(f.returns)}", NULL);\n'
    head = f"static PyObject* wrap_{f.name}(PyObject* self, PyObject* args) {{\n"
    parse = f'  if (!PyArg_ParseTuple(args, "{letters}:{f.name}"{addresses})) return NULL;\n'
    return f"{head}{declared}{parse}{converted}{end}}}\n"

# %% wrong="wrapper" why="uses the result of a void function"
def wrapper(f: Function) -> str:
    def capsule(text):
        name = text.removeprefix("const ")
        if not re.fullmatch(r"TF_\w+\*", name):
            raise ValueError(f"{f.name}: no way to pass a {text!r}")
        return name

    declared, letters, addresses, converted = "", "", "", ""
    for i, text in enumerate(f.arguments):
        declared += f"  {text} a{i};\n"
        if text in FORMAT:
            letters += FORMAT[text][0]
            addresses += f", &a{i}"
        else:
            declared += f"  PyObject* o{i};\n"
            letters += "O"
            addresses += f", &o{i}"
            converted += f'  a{i} = ({text})PyCapsule_GetPointer(o{i}, "{capsule(text)}");\n  if (!a{i}) return NULL;\n'
    call = f"{f.name}({', '.join(f'a{i}' for i in range(len(f.arguments)))})"
    make = FORMAT.get(f.returns, ("", "PyLong_FromLong"))[1]
    end = f"  return {make}({call});\n"
    if f.returns.endswith("*") and f.returns not in FORMAT:
        end = f'  return PyCapsule_New((void*){call}, "{capsule(f.returns)}", NULL);\n'
    head = f"static PyObject* wrap_{f.name}(PyObject* self, PyObject* args) {{\n"
    parse = f'  if (!PyArg_ParseTuple(args, "{letters}:{f.name}"{addresses})) return NULL;\n'
    return f"{head}{declared}{parse}{converted}{end}}}\n"

# %% wrong="wrapper" why="makes a capsule of NULL"
def wrapper(f: Function) -> str:
    def capsule(text):
        name = text.removeprefix("const ")
        if not re.fullmatch(r"TF_\w+\*", name):
            raise ValueError(f"{f.name}: no way to pass a {text!r}")
        return name

    declared, letters, addresses, converted = "", "", "", ""
    for i, text in enumerate(f.arguments):
        declared += f"  {text} a{i};\n"
        if text in FORMAT:
            letters += FORMAT[text][0]
            addresses += f", &a{i}"
        else:
            declared += f"  PyObject* o{i};\n"
            letters += "O"
            addresses += f", &o{i}"
            converted += f'  a{i} = ({text})PyCapsule_GetPointer(o{i}, "{capsule(text)}");\n  if (!a{i}) return NULL;\n'
    call = f"{f.name}({', '.join(f'a{i}' for i in range(len(f.arguments)))})"
    if f.returns == "void":
        end = f"  {call};\n  Py_RETURN_NONE;\n"
    elif f.returns in FORMAT:
        null = "  if (!result) Py_RETURN_NONE;\n" if f.returns.endswith("*") else ""
        end = f"  {f.returns} result = {call};\n{null}  return {FORMAT[f.returns][1]}(result);\n"
    else:
        end = f'  return PyCapsule_New((void*){call}, "{capsule(f.returns)}", NULL);\n'
    head = f"static PyObject* wrap_{f.name}(PyObject* self, PyObject* args) {{\n"
    parse = f'  if (!PyArg_ParseTuple(args, "{letters}:{f.name}"{addresses})) return NULL;\n'
    return f"{head}{declared}{parse}{converted}{end}}}\n"

# %% wrong="wrapper" why="passes any pointer on, whatever it points to"
def wrapper(f: Function) -> str:
    declared, letters, addresses, converted = "", "", "", ""
    for i, text in enumerate(f.arguments):
        declared += f"  {text} a{i};\n"
        if text in FORMAT:
            letters += FORMAT[text][0]
            addresses += f", &a{i}"
        else:
            declared += f"  PyObject* o{i};\n"
            letters += "O"
            addresses += f", &o{i}"
            name = text.removeprefix("const ")
            converted += f'  a{i} = ({text})PyCapsule_GetPointer(o{i}, "{name}");\n  if (!a{i}) return NULL;\n'
    call = f"{f.name}({', '.join(f'a{i}' for i in range(len(f.arguments)))})"
    if f.returns == "void":
        end = f"  {call};\n  Py_RETURN_NONE;\n"
    elif f.returns in FORMAT:
        null = "  if (!result) Py_RETURN_NONE;\n" if f.returns.endswith("*") else ""
        end = f"  {f.returns} result = {call};\n{null}  return {FORMAT[f.returns][1]}(result);\n"
    else:
        end = f"  {f.returns} result = {call};\n  if (!result) Py_RETURN_NONE;\n"
        end += f'  return PyCapsule_New((void*)result, "{f.returns.removeprefix("const ")}", NULL);\n'
    head = f"static PyObject* wrap_{f.name}(PyObject* self, PyObject* args) {{\n"
    parse = f'  if (!PyArg_ParseTuple(args, "{letters}:{f.name}"{addresses})) return NULL;\n'
    return f"{head}{declared}{parse}{converted}{end}}}\n"

# %% wrong="wrapper" why="reads an int where a size_t is due: the upper half stays what it was"
def wrapper(f: Function) -> str:
    def capsule(text):
        name = text.removeprefix("const ")
        if not re.fullmatch(r"TF_\w+\*", name):
            raise ValueError(f"{f.name}: no way to pass a {text!r}")
        return name

    declared, letters, addresses, converted = "", "", "", ""
    for i, text in enumerate(f.arguments):
        declared += f"  {text} a{i};\n"
        if text in FORMAT:
            letters += "s" if text == "const char*" else "i"
            addresses += f", &a{i}"
        else:
            declared += f"  PyObject* o{i};\n"
            letters += "O"
            addresses += f", &o{i}"
            converted += f'  a{i} = ({text})PyCapsule_GetPointer(o{i}, "{capsule(text)}");\n  if (!a{i}) return NULL;\n'
    call = f"{f.name}({', '.join(f'a{i}' for i in range(len(f.arguments)))})"
    if f.returns == "void":
        end = f"  {call};\n  Py_RETURN_NONE;\n"
    elif f.returns in FORMAT:
        null = "  if (!result) Py_RETURN_NONE;\n" if f.returns.endswith("*") else ""
        end = f"  {f.returns} result = {call};\n{null}  return {FORMAT[f.returns][1]}(result);\n"
    else:
        end = f"  {f.returns} result = {call};\n  if (!result) Py_RETURN_NONE;\n"
        end += f'  return PyCapsule_New((void*)result, "{capsule(f.returns)}", NULL);\n'
    head = f"static PyObject* wrap_{f.name}(PyObject* self, PyObject* args) {{\n"
    parse = f'  if (!PyArg_ParseTuple(args, "{letters}:{f.name}"{addresses})) return NULL;\n'
    return f"{head}{declared}{parse}{converted}{end}}}\n"

# %% wrong="wrapper" why="writes the text of the example for every function"
def wrapper(f: Function) -> str:
    return f"""static PyObject* wrap_{f.name}(PyObject* self, PyObject* args) {{
  if (!PyArg_ParseTuple(args, ":{f.name}")) return NULL;
  const char* result = {f.name}();
  if (!result) Py_RETURN_NONE;
  return PyUnicode_FromString(result);
}}
"""

# %% wrong="wrapper" why="the capsule's name is a local array, gone when the wrapper has returned"
def wrapper(f: Function) -> str:
    def capsule(text):
        name = text.removeprefix("const ")
        if not re.fullmatch(r"TF_\w+\*", name):
            raise ValueError(f"{f.name}: no way to pass a {text!r}")
        return name

    declared, letters, addresses, converted = "", "", "", ""
    for i, text in enumerate(f.arguments):
        declared += f"  {text} a{i};\n"
        if text in FORMAT:
            letters += FORMAT[text][0]
            addresses += f", &a{i}"
        else:
            declared += f"  PyObject* o{i};\n"
            letters += "O"
            addresses += f", &o{i}"
            converted += f'  a{i} = ({text})PyCapsule_GetPointer(o{i}, "{capsule(text)}");\n  if (!a{i}) return NULL;\n'
    call = f"{f.name}({', '.join(f'a{i}' for i in range(len(f.arguments)))})"
    if f.returns == "void":
        end = f"  {call};\n  Py_RETURN_NONE;\n"
    elif f.returns in FORMAT:
        null = "  if (!result) Py_RETURN_NONE;\n" if f.returns.endswith("*") else ""
        end = f"  {f.returns} result = {call};\n{null}  return {FORMAT[f.returns][1]}(result);\n"
    else:
        end = f'  char name[] = "{capsule(f.returns)}";\n  {f.returns} result = {call};\n'
        end += "  if (!result) Py_RETURN_NONE;\n  return PyCapsule_New((void*)result, name, NULL);\n"
    head = f"static PyObject* wrap_{f.name}(PyObject* self, PyObject* args) {{\n"
    parse = f'  if (!PyArg_ParseTuple(args, "{letters}:{f.name}"{addresses})) return NULL;\n'
    return f"{head}{declared}{parse}{converted}{end}}}\n"

# %% right="wrapper" why="converters of PyArg_ParseTuple (O&), one for each type of pointer"
def wrapper(f: Function) -> str:
    """C source: converters for the pointers, then the wrapper."""
    pointer = re.compile(r"(?:const )?(TF_\w+)\*")
    for text in [*f.arguments, *([] if f.returns == "void" else [f.returns])]:
        if text not in FORMAT and not pointer.fullmatch(text):
            raise ValueError(text)
    lines, formats, places, names = [], [], [], []
    converters = []
    for number, text in enumerate(f.arguments):
        names.append(f"x{number}")
        lines.append(f"  {text} x{number} = 0;")
        if text in FORMAT:
            formats.append(FORMAT[text][0])
            places.append(f"&x{number}")
            continue
        kind = pointer.fullmatch(text)[1]
        function = f"convert_{f.name}_{number}"
        converters.append(
            f"static int {function}(PyObject* object, void* place) {{\n"
            f'  void* found = PyCapsule_GetPointer(object, "{kind}*");\n'
            f"  if (found == NULL) return 0;\n  *(void**)place = found;\n  return 1;\n}}\n"
        )
        formats.append("O&")
        places += [function, f"&x{number}"]
    arguments = ", ".join(['"' + "".join(formats) + '"', *places])
    call = f"{f.name}({', '.join(names)})"
    if f.returns == "void":
        result = f"  {call};\n  Py_INCREF(Py_None);\n  return Py_None;"
    elif f.returns == "const char*":
        result = f'  return Py_BuildValue("s", {call});'
    elif f.returns in FORMAT:
        result = f"  return {FORMAT[f.returns][1]}({call});"
    else:
        kind = pointer.fullmatch(f.returns)[1]
        result = f'  void* made = (void*){call};\n  if (made) return PyCapsule_New(made, "{kind}*", 0);\n  Py_RETURN_NONE;'
    return "".join(converters) + (
        f"static PyObject* wrap_{f.name}(PyObject* self, PyObject* args)\n{{\n"
        + "\n".join(lines)
        + f"\n  if (!PyArg_ParseTuple(args, {arguments}))\n    return NULL;\n{result}\n}}\n"
    )

# %% wrong="wrapper" why="takes None for a text (z for s): NULL goes on into C"
def wrapper(f: Function) -> str:
    def capsule(text: str) -> str:
        name = text.removeprefix("const ")
        if not re.fullmatch(r"TF_\w+\*", name):
            raise ValueError(f"{f.name}: no way to pass a {text!r}")
        return name

    declared, letters, addresses, converted = "", "", "", ""
    for i, text in enumerate(f.arguments):
        declared += f"  {text} a{i};\n"
        if text in FORMAT:
            letters += FORMAT[text][0].replace("s", "z")
            addresses += f", &a{i}"
        else:
            declared += f"  PyObject* o{i};\n"
            letters += "O"
            addresses += f", &o{i}"
            converted += f'  a{i} = ({text})PyCapsule_GetPointer(o{i}, "{capsule(text)}");\n  if (!a{i}) return NULL;\n'
    call = f"{f.name}({', '.join(f'a{i}' for i in range(len(f.arguments)))})"
    if f.returns == "void":
        end = f"  {call};\n  Py_RETURN_NONE;\n"
    elif f.returns in FORMAT:
        null = "  if (!result) Py_RETURN_NONE;\n" if f.returns.endswith("*") else ""
        end = f"  {f.returns} result = {call};\n{null}  return {FORMAT[f.returns][1]}(result);\n"
    else:
        end = f"  {f.returns} result = {call};\n  if (!result) Py_RETURN_NONE;\n"
        end += f'  return PyCapsule_New((void*)result, "{capsule(f.returns)}", NULL);\n'
    head = f"static PyObject* wrap_{f.name}(PyObject* self, PyObject* args) {{\n"
    parse = f'  if (!PyArg_ParseTuple(args, "{letters}:{f.name}"{addresses})) return NULL;\n'
    return f"{head}{declared}{parse}{converted}{end}}}\n"

# %% wrong="wrapper" why="makes a long of a size_t, which may be larger"
def wrapper(f: Function) -> str:
    def capsule(text: str) -> str:
        name = text.removeprefix("const ")
        if not re.fullmatch(r"TF_\w+\*", name):
            raise ValueError(f"{f.name}: no way to pass a {text!r}")
        return name

    declared, letters, addresses, converted = "", "", "", ""
    for i, text in enumerate(f.arguments):
        declared += f"  {text} a{i};\n"
        if text in FORMAT:
            letters += FORMAT[text][0]
            addresses += f", &a{i}"
        else:
            declared += f"  PyObject* o{i};\n"
            letters += "O"
            addresses += f", &o{i}"
            converted += f'  a{i} = ({text})PyCapsule_GetPointer(o{i}, "{capsule(text)}");\n  if (!a{i}) return NULL;\n'
    call = f"{f.name}({', '.join(f'a{i}' for i in range(len(f.arguments)))})"
    if f.returns == "void":
        end = f"  {call};\n  Py_RETURN_NONE;\n"
    elif f.returns in FORMAT:
        null = "  if (!result) Py_RETURN_NONE;\n" if f.returns.endswith("*") else ""
        end = f"  {f.returns} result = {call};\n{null}  return {FORMAT[f.returns][1].replace('Size_t', 'Long')}(result);\n"
    else:
        end = f"  {f.returns} result = {call};\n  if (!result) Py_RETURN_NONE;\n"
        end += f'  return PyCapsule_New((void*)result, "{capsule(f.returns)}", NULL);\n'
    head = f"static PyObject* wrap_{f.name}(PyObject* self, PyObject* args) {{\n"
    parse = f'  if (!PyArg_ParseTuple(args, "{letters}:{f.name}"{addresses})) return NULL;\n'
    return f"{head}{declared}{parse}{converted}{end}}}\n"

# %% wrong="interface" why="no typemaps: the caller has to bring a status"
def interface(functions: list[Function]) -> str:
    head = """%module mini
%{
#include <tensorflow/c/c_api.h>
%}
%apply int { TF_DataType, TF_Code };
"""
    return head + "\n".join(f"{f.returns} {f.name}({', '.join(f.arguments) or 'void'});" for f in functions) + "\n"

# %% wrong="interface" why="never frees the status"
def interface(functions: list[Function]) -> str:
    head = """%module mini
%{
#include <tensorflow/c/c_api.h>
%}
%apply int { TF_DataType, TF_Code };
%typemap(in, numinputs=0) TF_Status* { $1 = TF_NewStatus(); }
%typemap(argout) TF_Status* {
  if (TF_GetCode($1) != TF_OK) {
    PyErr_SetString(PyExc_RuntimeError, TF_Message($1));
    SWIG_fail;
  }
}
"""
    return head + "\n".join(f"{f.returns} {f.name}({', '.join(f.arguments) or 'void'});" for f in functions) + "\n"

# %% wrong="interface" why="frees the status on the way of success only"
def interface(functions: list[Function]) -> str:
    head = """%module mini
%{
#include <tensorflow/c/c_api.h>
%}
%apply int { TF_DataType, TF_Code };
%typemap(in, numinputs=0) TF_Status* { $1 = TF_NewStatus(); }
%typemap(argout) TF_Status* {
  if (TF_GetCode($1) != TF_OK) {
    PyErr_SetString(PyExc_RuntimeError, TF_Message($1));
    SWIG_fail;
  }
  TF_DeleteStatus($1);
}
"""
    return head + "\n".join(f"{f.returns} {f.name}({', '.join(f.arguments) or 'void'});" for f in functions) + "\n"

# %% wrong="interface" why="does not look at the status"
def interface(functions: list[Function]) -> str:
    head = """%module mini
%{
#include <tensorflow/c/c_api.h>
%}
%apply int { TF_DataType, TF_Code };
%typemap(in, numinputs=0) TF_Status* { $1 = TF_NewStatus(); }
%typemap(freearg) TF_Status* { TF_DeleteStatus($1); }
"""
    return head + "\n".join(f"{f.returns} {f.name}({', '.join(f.arguments) or 'void'});" for f in functions) + "\n"

# %% wrong="interface" why="leaves enumerations to SWIG, which takes them for structs"
def interface(functions: list[Function]) -> str:
    head = """%module mini
%{
#include <tensorflow/c/c_api.h>
%}
%typemap(in, numinputs=0) TF_Status* { $1 = TF_NewStatus(); }
%typemap(argout) TF_Status* {
  if (TF_GetCode($1) != TF_OK) {
    PyErr_SetString(PyExc_RuntimeError, TF_Message($1));
    SWIG_fail;
  }
}
%typemap(freearg) TF_Status* { TF_DeleteStatus($1); }
"""
    return head + "\n".join(f"{f.returns} {f.name}({', '.join(f.arguments) or 'void'});" for f in functions) + "\n"

# %% wrong="interface" why="typemaps stand behind the declarations"
def interface(functions: list[Function]) -> str:
    head = """%module mini
%{
#include <tensorflow/c/c_api.h>
%}
"""
    tail = """
%apply int { TF_DataType, TF_Code };
%typemap(in, numinputs=0) TF_Status* { $1 = TF_NewStatus(); }
%typemap(argout) TF_Status* {
  if (TF_GetCode($1) != TF_OK) {
    PyErr_SetString(PyExc_RuntimeError, TF_Message($1));
    SWIG_fail;
  }
}
%typemap(freearg) TF_Status* { TF_DeleteStatus($1); }
"""
    return head + "\n".join(f"{f.returns} {f.name}({', '.join(f.arguments) or 'void'});" for f in functions) + tail

# %% wrong="interface" why="raises with the code instead of the message"
def interface(functions: list[Function]) -> str:
    head = """%module mini
%{
#include <tensorflow/c/c_api.h>
%}
%apply int { TF_DataType, TF_Code };
%typemap(in, numinputs=0) TF_Status* { $1 = TF_NewStatus(); }
%typemap(argout) TF_Status* {
  if (TF_GetCode($1) != TF_OK) {
    PyErr_Format(PyExc_RuntimeError, "status %d", (int)TF_GetCode($1));
    SWIG_fail;
  }
}
%typemap(freearg) TF_Status* { TF_DeleteStatus($1); }
"""
    return head + "\n".join(f"{f.returns} {f.name}({', '.join(f.arguments) or 'void'});" for f in functions) + "\n"

# %% wrong="interface" why="declares the functions of the visible test whatever is asked"
def interface(functions: list[Function]) -> str:
    return """%module mini
%{
#include <tensorflow/c/c_api.h>
%}
%typemap(in, numinputs=0) TF_Status* { $1 = TF_NewStatus(); }
%typemap(argout) TF_Status* { if (TF_GetCode($1)) { PyErr_SetString(PyExc_RuntimeError, TF_Message($1)); SWIG_fail; } }
%typemap(freearg) TF_Status* { TF_DeleteStatus($1); }
TF_Graph* TF_NewGraph(void);
void TF_DeleteGraph(TF_Graph*);
TF_OperationDescription* TF_NewOperation(TF_Graph*, const char*, const char*);
TF_Operation* TF_FinishOperation(TF_OperationDescription*, TF_Status*);
const char* TF_OperationName(TF_Operation*);
"""

# %% right="interface" why="a named typemap, a typedef for each enumeration, the status on the wrapper's stack"
def interface(functions: list[Function]) -> str:
    def declaration(f):
        parts = [f"{text} status" if text == "TF_Status*" else text for text in f.arguments]
        return f"{f.returns} {f.name}({', '.join(parts)});"

    lines = [
        "%module mini",
        "%header %{",
        "#include <tensorflow/c/c_api.h>",
        "#include <tensorflow/c/tf_status.h>",
        "static int raised(TF_Status* s) {",
        "  if (TF_GetCode(s) == 0) return 0;",
        "  PyErr_SetString(PyExc_RuntimeError, TF_Message(s));",
        "  return 1;",
        "}",
        "%}",
        "%apply int { TF_DataType };",
        "%apply int { TF_Code };",
        "%typemap(in, numinputs=0) TF_Status* status (TF_Status* made) { made = TF_NewStatus(); $1 = made; }",
        "%typemap(freearg) TF_Status* status { TF_DeleteStatus(made$argnum); }",
        "%typemap(argout) TF_Status* status { if (raised($1)) SWIG_fail; }",
    ]
    return "\n".join([*lines, *map(declaration, functions), ""])

# %% wrong="interface" why="treats one of the two enumerations as an int"
def interface(functions: list[Function]) -> str:
    head = """%module mini
%{
#include <tensorflow/c/c_api.h>
%}
%apply int { TF_DataType };
%typemap(in, numinputs=0) TF_Status* { $1 = TF_NewStatus(); }
%typemap(argout) TF_Status* {
  if (TF_GetCode($1) != TF_OK) {
    PyErr_SetString(PyExc_RuntimeError, TF_Message($1));
    SWIG_fail;
  }
}
%typemap(freearg) TF_Status* { TF_DeleteStatus($1); }
"""
    return head + "\n".join(f"{f.returns} {f.name}({', '.join(f.arguments) or 'void'});" for f in functions) + "\n"

# %% wrong="interface" why="knows one code of an error"
def interface(functions: list[Function]) -> str:
    head = """%module mini
%{
#include <tensorflow/c/c_api.h>
%}
%apply int { TF_DataType, TF_Code };
%typemap(in, numinputs=0) TF_Status* { $1 = TF_NewStatus(); }
%typemap(argout) TF_Status* {
  if (TF_GetCode($1) == TF_INVALID_ARGUMENT) {
    PyErr_SetString(PyExc_RuntimeError, TF_Message($1));
    SWIG_fail;
  }
}
%typemap(freearg) TF_Status* { TF_DeleteStatus($1); }
"""
    return head + "\n".join(f"{f.returns} {f.name}({', '.join(f.arguments) or 'void'});" for f in functions) + "\n"

# %% wrong="interface" why="takes the message for a format"
def interface(functions: list[Function]) -> str:
    head = """%module mini
%{
#include <tensorflow/c/c_api.h>
%}
%apply int { TF_DataType, TF_Code };
%typemap(in, numinputs=0) TF_Status* { $1 = TF_NewStatus(); }
%typemap(argout) TF_Status* {
  if (TF_GetCode($1) != TF_OK) {
    PyErr_Format(PyExc_RuntimeError, TF_Message($1));
    SWIG_fail;
  }
}
%typemap(freearg) TF_Status* { TF_DeleteStatus($1); }
"""
    return head + "\n".join(f"{f.returns} {f.name}({', '.join(f.arguments) or 'void'});" for f in functions) + "\n"

# %% wrong="interface" why="makes a float of an enumeration that comes back"
def interface(functions: list[Function]) -> str:
    head = """%module mini
%{
#include <tensorflow/c/c_api.h>
%}
%apply int { TF_DataType, TF_Code };
%typemap(out) TF_DataType { $result = PyFloat_FromDouble($1); }
%typemap(in, numinputs=0) TF_Status* { $1 = TF_NewStatus(); }
%typemap(argout) TF_Status* {
  if (TF_GetCode($1) != TF_OK) {
    PyErr_SetString(PyExc_RuntimeError, TF_Message($1));
    SWIG_fail;
  }
}
%typemap(freearg) TF_Status* { TF_DeleteStatus($1); }
"""
    return head + "\n".join(f"{f.returns} {f.name}({', '.join(f.arguments) or 'void'});" for f in functions) + "\n"

# %% wrong="tensor" why="hands over the memory as it lies, whatever the strides"
def to_tensor(c, array):
    if array.dtype.name not in TF_DTYPES:
        raise TypeError(array.dtype)
    base = array.base if array.base is not None and array.base.size == array.size else array
    data = base.tobytes(order="A")
    tensor = c("TF_AllocateTensor", TF_DTYPES[array.dtype.name], list(array.shape), array.nbytes)
    c("write", c("TF_TensorData", tensor), data[: array.nbytes])
    return tensor


def from_tensor(c, tensor):
    names = {code: name for name, code in TF_DTYPES.items()}
    code = c("TF_TensorType", tensor)
    if code not in names:
        raise TypeError(code)
    shape = [c("TF_Dim", tensor, i) for i in range(c("TF_NumDims", tensor))]
    data = c("read", c("TF_TensorData", tensor), c("TF_TensorByteSize", tensor))
    return np.frombuffer(data, names[code]).reshape(shape).copy()

# %% wrong="tensor" why="counts the bytes of a scalar as none"
def to_tensor(c, array):
    if array.dtype.name not in TF_DTYPES:
        raise TypeError(array.dtype)
    size = array.itemsize * sum(array.shape) if array.ndim == 1 else array.nbytes if array.ndim else 0
    tensor = c("TF_AllocateTensor", TF_DTYPES[array.dtype.name], list(array.shape), size)
    c("write", c("TF_TensorData", tensor), array.tobytes()[:size])
    return tensor


def from_tensor(c, tensor):
    names = {code: name for name, code in TF_DTYPES.items()}
    code = c("TF_TensorType", tensor)
    if code not in names:
        raise TypeError(code)
    shape = [c("TF_Dim", tensor, i) for i in range(c("TF_NumDims", tensor))]
    data = c("read", c("TF_TensorData", tensor), c("TF_TensorByteSize", tensor))
    return np.frombuffer(data, names[code]).reshape(shape).copy()

# %% wrong="tensor" why="takes four bytes for every element"
def to_tensor(c, array):
    if array.dtype.name not in TF_DTYPES:
        raise TypeError(array.dtype)
    tensor = c("TF_AllocateTensor", TF_DTYPES[array.dtype.name], list(array.shape), 4 * array.size)
    c("write", c("TF_TensorData", tensor), array.tobytes())
    return tensor


def from_tensor(c, tensor):
    names = {code: name for name, code in TF_DTYPES.items()}
    code = c("TF_TensorType", tensor)
    if code not in names:
        raise TypeError(code)
    shape = [c("TF_Dim", tensor, i) for i in range(c("TF_NumDims", tensor))]
    data = c("read", c("TF_TensorData", tensor), c("TF_TensorByteSize", tensor))
    return np.frombuffer(data, names[code]).reshape(shape).copy()

# %% wrong="tensor" why="frees the tensor that it has read, so that the array looks at what is gone"
def to_tensor(c, array):
    if array.dtype.name not in TF_DTYPES:
        raise TypeError(array.dtype)
    data = array.tobytes()
    tensor = c("TF_AllocateTensor", TF_DTYPES[array.dtype.name], list(array.shape), len(data))
    c("write", c("TF_TensorData", tensor), data)
    return tensor


def from_tensor(c, tensor):
    names = {code: name for name, code in TF_DTYPES.items()}
    code = c("TF_TensorType", tensor)
    if code not in names:
        raise TypeError(code)
    shape = [c("TF_Dim", tensor, i) for i in range(c("TF_NumDims", tensor))]
    address, size = c("TF_TensorData", tensor), c("TF_TensorByteSize", tensor)
    c("TF_DeleteTensor", tensor)
    return np.frombuffer(c("read", address, size), names[code]).reshape(shape)

# %% wrong="tensor" why="allocates first and looks at the dtype afterwards: the tensor is lost"
def to_tensor(c, array):
    data = array.tobytes()
    tensor = c("TF_AllocateTensor", TF_DTYPES.get(array.dtype.name, 4), list(array.shape), len(data))
    if array.dtype.name not in TF_DTYPES:
        raise TypeError(array.dtype)
    c("write", c("TF_TensorData", tensor), data)
    return tensor


def from_tensor(c, tensor):
    names = {code: name for name, code in TF_DTYPES.items()}
    code = c("TF_TensorType", tensor)
    if code not in names:
        raise TypeError(code)
    shape = [c("TF_Dim", tensor, i) for i in range(c("TF_NumDims", tensor))]
    data = c("read", c("TF_TensorData", tensor), c("TF_TensorByteSize", tensor))
    return np.frombuffer(data, names[code]).reshape(shape).copy()

# %% wrong="tensor" why="reads every tensor as float32 vectors"
def to_tensor(c, array):
    if array.dtype.name not in TF_DTYPES:
        raise TypeError(array.dtype)
    data = array.tobytes()
    tensor = c("TF_AllocateTensor", TF_DTYPES[array.dtype.name], list(array.shape), len(data))
    c("write", c("TF_TensorData", tensor), data)
    return tensor


def from_tensor(c, tensor):
    data = c("read", c("TF_TensorData", tensor), c("TF_TensorByteSize", tensor))
    return np.frombuffer(data, np.float32).reshape([1, -1])

# %% wrong="tensor" why="takes unknown types for float32"
def to_tensor(c, array):
    data = array.tobytes()
    tensor = c("TF_AllocateTensor", TF_DTYPES.get(array.dtype.name, 1), list(array.shape), len(data))
    c("write", c("TF_TensorData", tensor), data)
    return tensor


def from_tensor(c, tensor):
    names = {code: name for name, code in TF_DTYPES.items()}
    shape = [c("TF_Dim", tensor, i) for i in range(c("TF_NumDims", tensor))]
    data = c("read", c("TF_TensorData", tensor), c("TF_TensorByteSize", tensor))
    return np.frombuffer(data, names.get(c("TF_TensorType", tensor), "float32")).reshape(shape).copy()

# %% right="tensor" why="ascontiguousarray and a memoryview there, an empty array that is filled back"
NUMPY_TYPES = {1: np.float32, 2: np.float64, 3: np.int32, 9: np.int64, 10: np.bool_}


def to_tensor(c, array):
    codes = [code for code, kind in NUMPY_TYPES.items() if array.dtype == kind]
    if not codes:
        raise TypeError(f"no code for {array.dtype}")
    flat = np.ascontiguousarray(array).reshape(-1)
    dims = [int(size) for size in array.shape]
    tensor = c("TF_AllocateTensor", codes[0], dims, int(flat.nbytes))
    if flat.size:
        c("write", c("TF_TensorData", tensor), bytes(memoryview(flat).cast("B")))
    return tensor


def from_tensor(c, tensor):
    try:
        kind = NUMPY_TYPES[c("TF_TensorType", tensor)]
    except KeyError as error:
        raise TypeError("no dtype for this tensor") from error
    dims, rank = (), c("TF_NumDims", tensor)
    while len(dims) < rank:
        dims += (c("TF_Dim", tensor, len(dims)),)
    array = np.empty(dims, kind)
    if array.size:
        array.flat[:] = np.frombuffer(c("read", c("TF_TensorData", tensor), array.nbytes), kind)
    return array

# %% wrong="tensor" why="takes swapped bytes for the machine's own"
def to_tensor(c: Callable, array: np.ndarray) -> int:
    if array.dtype.name not in TF_DTYPES:
        raise TypeError(f"no tensor is made of {array.dtype!r}")
    data = array.tobytes()
    tensor = c("TF_AllocateTensor", TF_DTYPES[array.dtype.name], list(array.shape), len(data))
    c("write", c("TF_TensorData", tensor), data)
    return tensor


def from_tensor(c: Callable, tensor: int) -> np.ndarray:
    names = {code: name for name, code in TF_DTYPES.items()}
    code = c("TF_TensorType", tensor)
    if code not in names:
        raise TypeError(f"no array is made of the type {code}")
    shape = [c("TF_Dim", tensor, i) for i in range(c("TF_NumDims", tensor))]
    data = c("read", c("TF_TensorData", tensor), c("TF_TensorByteSize", tensor))
    return np.frombuffer(data, names[code]).reshape(shape).copy()

# %% right="tensor" why="writes and reads one element at a time, wherever it lies in the tensor's data"
def to_tensor(c, array):
    if not any(array.dtype == np.dtype(name) for name in TF_DTYPES):
        raise TypeError(array.dtype.str)
    tensor = c("TF_AllocateTensor", TF_DTYPES[str(array.dtype)], list(array.shape), array.size * array.itemsize)
    start = c("TF_TensorData", tensor)
    for number, element in enumerate(array.flat):
        c("write", start + number * array.itemsize, element.tobytes())
    return tensor


def from_tensor(c, tensor):
    [dtype] = [name for name, code in TF_DTYPES.items() if code == c("TF_TensorType", tensor)] or [None]
    if dtype is None:
        raise TypeError("unknown type")
    array = np.empty([c("TF_Dim", tensor, axis) for axis in range(c("TF_NumDims", tensor))], dtype)
    start = c("TF_TensorData", tensor)
    for number, index in enumerate(np.ndindex(array.shape)):
        [array[index]] = np.frombuffer(c("read", start + number * array.itemsize, array.itemsize), dtype)
    return array

# %% wrong="session" why="frees only on success"
def run_graph(c, graph, feeds, fetches):
    status = c("TF_NewStatus")

    def check():
        if code := c("TF_GetCode", status):
            raise StatusError(code, c("TF_Message", status))

    def output(tensor):
        node, _, index = tensor.partition(":")
        operation = c("TF_GraphOperationByName", imported, node)
        if not operation:
            raise KeyError(tensor)
        return operation, int(index or 0)

    imported, buffer = c("TF_NewGraph"), c("TF_NewBufferFromString", graph, len(graph))
    options, session_options = c("TF_NewImportGraphDefOptions"), c("TF_NewSessionOptions")
    c("TF_GraphImportGraphDef", imported, buffer, options, status)
    check()
    session = c("TF_NewSession", imported, session_options, status)
    check()
    tensors = [given_to_tensor(c, array) for array in feeds.values()]
    results = c("TF_SessionRun", session, [*map(output, feeds)], tensors, [*map(output, fetches)], status)
    check()
    values = [given_from_tensor(c, result) for result in results]
    for tensor in (*tensors, *results):
        c("TF_DeleteTensor", tensor)
    c("TF_CloseSession", session, status)
    check()
    c("TF_DeleteSession", session, status)
    check()
    c("TF_DeleteSessionOptions", session_options)
    c("TF_DeleteImportGraphDefOptions", options)
    c("TF_DeleteBuffer", buffer)
    c("TF_DeleteGraph", imported)
    c("TF_DeleteStatus", status)
    return values

# %% wrong="session" why="does not free the results"
def run_graph(c, graph, feeds, fetches):
    with contextlib.ExitStack() as stack:
        status = c("TF_NewStatus")
        stack.callback(c, "TF_DeleteStatus", status)

        def checked(name, *arguments):
            result = c(name, *arguments, status)
            if code := c("TF_GetCode", status):
                raise StatusError(code, c("TF_Message", status))
            return result

        def new(name, delete, *arguments):
            made = c(name, *arguments)
            stack.callback(c, delete, made)
            return made

        def output(tensor):
            node, _, index = tensor.partition(":")
            operation = c("TF_GraphOperationByName", imported, node)
            if not operation:
                raise KeyError(tensor)
            return operation, int(index or 0)

        imported = new("TF_NewGraph", "TF_DeleteGraph")
        buffer = new("TF_NewBufferFromString", "TF_DeleteBuffer", graph, len(graph))
        options = new("TF_NewImportGraphDefOptions", "TF_DeleteImportGraphDefOptions")
        checked("TF_GraphImportGraphDef", imported, buffer, options)
        session = checked("TF_NewSession", imported, new("TF_NewSessionOptions", "TF_DeleteSessionOptions"))
        stack.callback(checked, "TF_DeleteSession", session)
        stack.callback(checked, "TF_CloseSession", session)
        tensors = []
        for array in feeds.values():
            tensors.append(given_to_tensor(c, array))
            stack.callback(c, "TF_DeleteTensor", tensors[-1])
        results = checked("TF_SessionRun", session, [*map(output, feeds)], tensors, [*map(output, fetches)])
        return [given_from_tensor(c, result) for result in results]

# %% wrong="session" why="deletes the status before it reads the message"
def run_graph(c, graph, feeds, fetches):
    with contextlib.ExitStack() as stack:
        def checked(name, *arguments):
            status = c("TF_NewStatus")
            result = c(name, *arguments, status)
            code = c("TF_GetCode", status)
            c("TF_DeleteStatus", status)
            if code:
                raise StatusError(code, c("TF_Message", status))
            return result

        def new(name, delete, *arguments):
            made = c(name, *arguments)
            stack.callback(c, delete, made)
            return made

        def output(tensor):
            node, _, index = tensor.partition(":")
            operation = c("TF_GraphOperationByName", imported, node)
            if not operation:
                raise KeyError(tensor)
            return operation, int(index or 0)

        imported = new("TF_NewGraph", "TF_DeleteGraph")
        buffer = new("TF_NewBufferFromString", "TF_DeleteBuffer", graph, len(graph))
        options = new("TF_NewImportGraphDefOptions", "TF_DeleteImportGraphDefOptions")
        checked("TF_GraphImportGraphDef", imported, buffer, options)
        session = checked("TF_NewSession", imported, new("TF_NewSessionOptions", "TF_DeleteSessionOptions"))
        stack.callback(checked, "TF_DeleteSession", session)
        stack.callback(checked, "TF_CloseSession", session)
        tensors = []
        for array in feeds.values():
            tensors.append(new_tensor := given_to_tensor(c, array))
            stack.callback(c, "TF_DeleteTensor", new_tensor)
        results = checked("TF_SessionRun", session, [*map(output, feeds)], tensors, [*map(output, fetches)])
        for result in results:
            stack.callback(c, "TF_DeleteTensor", result)
        return [given_from_tensor(c, result) for result in results]

# %% wrong="session" why="deletes the session without closing it"
def run_graph(c, graph, feeds, fetches):
    with contextlib.ExitStack() as stack:
        status = c("TF_NewStatus")
        stack.callback(c, "TF_DeleteStatus", status)

        def checked(name, *arguments):
            result = c(name, *arguments, status)
            if code := c("TF_GetCode", status):
                raise StatusError(code, c("TF_Message", status))
            return result

        def new(name, delete, *arguments):
            made = c(name, *arguments)
            stack.callback(c, delete, made)
            return made

        def output(tensor):
            node, _, index = tensor.partition(":")
            operation = c("TF_GraphOperationByName", imported, node)
            if not operation:
                raise KeyError(tensor)
            return operation, int(index or 0)

        imported = new("TF_NewGraph", "TF_DeleteGraph")
        buffer = new("TF_NewBufferFromString", "TF_DeleteBuffer", graph, len(graph))
        options = new("TF_NewImportGraphDefOptions", "TF_DeleteImportGraphDefOptions")
        checked("TF_GraphImportGraphDef", imported, buffer, options)
        session = checked("TF_NewSession", imported, new("TF_NewSessionOptions", "TF_DeleteSessionOptions"))
        stack.callback(checked, "TF_DeleteSession", session)
        tensors = []
        for array in feeds.values():
            tensors.append(given_to_tensor(c, array))
            stack.callback(c, "TF_DeleteTensor", tensors[-1])
        results = checked("TF_SessionRun", session, [*map(output, feeds)], tensors, [*map(output, fetches)])
        for result in results:
            stack.callback(c, "TF_DeleteTensor", result)
        return [given_from_tensor(c, result) for result in results]

# %% wrong="session" why="reads output 0 of every node"
def run_graph(c, graph, feeds, fetches):
    with contextlib.ExitStack() as stack:
        status = c("TF_NewStatus")
        stack.callback(c, "TF_DeleteStatus", status)

        def checked(name, *arguments):
            result = c(name, *arguments, status)
            if code := c("TF_GetCode", status):
                raise StatusError(code, c("TF_Message", status))
            return result

        def new(name, delete, *arguments):
            made = c(name, *arguments)
            stack.callback(c, delete, made)
            return made

        def output(tensor):
            operation = c("TF_GraphOperationByName", imported, tensor.split(":")[0])
            if not operation:
                raise KeyError(tensor)
            return operation, 0

        imported = new("TF_NewGraph", "TF_DeleteGraph")
        buffer = new("TF_NewBufferFromString", "TF_DeleteBuffer", graph, len(graph))
        options = new("TF_NewImportGraphDefOptions", "TF_DeleteImportGraphDefOptions")
        checked("TF_GraphImportGraphDef", imported, buffer, options)
        session = checked("TF_NewSession", imported, new("TF_NewSessionOptions", "TF_DeleteSessionOptions"))
        stack.callback(checked, "TF_DeleteSession", session)
        stack.callback(checked, "TF_CloseSession", session)
        tensors = []
        for array in feeds.values():
            tensors.append(given_to_tensor(c, array))
            stack.callback(c, "TF_DeleteTensor", tensors[-1])
        results = checked("TF_SessionRun", session, [*map(output, feeds)], tensors, [*map(output, fetches)])
        for result in results:
            stack.callback(c, "TF_DeleteTensor", result)
        return [given_from_tensor(c, result) for result in results]

# %% wrong="session" why="a Python session behind the back of c"
def run_graph(c, graph, feeds, fetches):
    import tensorflow

    with tensorflow.Graph().as_default():
        tensorflow.compat.v1.import_graph_def(tensorflow.compat.v1.GraphDef.FromString(graph), name="")
        with tensorflow.compat.v1.Session() as session:
            try:
                return [np.asarray(value) for value in session.run(fetches, feeds)]
            except tensorflow.errors.OpError as error:
                raise StatusError(error.error_code, error.message) from error

# %% wrong="session" why="never looks at the status of closing and deleting"
def run_graph(c, graph, feeds, fetches):
    with contextlib.ExitStack() as stack:
        status = c("TF_NewStatus")
        stack.callback(c, "TF_DeleteStatus", status)

        def checked(name, *arguments):
            result = c(name, *arguments, status)
            if code := c("TF_GetCode", status):
                raise StatusError(code, c("TF_Message", status))
            return result

        def new(name, delete, *arguments):
            made = c(name, *arguments)
            stack.callback(c, delete, made)
            return made

        def output(tensor):
            node, _, index = tensor.partition(":")
            operation = c("TF_GraphOperationByName", imported, node)
            if not operation:
                raise KeyError(tensor)
            return operation, int(index or 0)

        imported = new("TF_NewGraph", "TF_DeleteGraph")
        buffer = new("TF_NewBufferFromString", "TF_DeleteBuffer", graph, len(graph))
        options = new("TF_NewImportGraphDefOptions", "TF_DeleteImportGraphDefOptions")
        checked("TF_GraphImportGraphDef", imported, buffer, options)
        session = checked("TF_NewSession", imported, new("TF_NewSessionOptions", "TF_DeleteSessionOptions"))
        stack.callback(c, "TF_DeleteSession", session, status)
        stack.callback(c, "TF_CloseSession", session, status)
        tensors = []
        for array in feeds.values():
            tensors.append(given_to_tensor(c, array))
            stack.callback(c, "TF_DeleteTensor", tensors[-1])
        results = checked("TF_SessionRun", session, [*map(output, feeds)], tensors, [*map(output, fetches)])
        for result in results:
            stack.callback(c, "TF_DeleteTensor", result)
        return [given_from_tensor(c, result) for result in results]

# %% wrong="session" why="deletes the graph before its session"
def run_graph(c, graph, feeds, fetches):
    with contextlib.ExitStack() as stack:
        status = c("TF_NewStatus")
        stack.callback(c, "TF_DeleteStatus", status)

        def checked(name, *arguments):
            result = c(name, *arguments, status)
            if code := c("TF_GetCode", status):
                raise StatusError(code, c("TF_Message", status))
            return result

        def new(name, delete, *arguments):
            made = c(name, *arguments)
            stack.callback(c, delete, made)
            return made

        def output(tensor):
            node, _, index = tensor.partition(":")
            operation = c("TF_GraphOperationByName", imported, node)
            if not operation:
                raise KeyError(tensor)
            return operation, int(index or 0)

        imported = c("TF_NewGraph")
        try:
            buffer = new("TF_NewBufferFromString", "TF_DeleteBuffer", graph, len(graph))
            options = new("TF_NewImportGraphDefOptions", "TF_DeleteImportGraphDefOptions")
            checked("TF_GraphImportGraphDef", imported, buffer, options)
            session = checked("TF_NewSession", imported, new("TF_NewSessionOptions", "TF_DeleteSessionOptions"))
            stack.callback(checked, "TF_DeleteSession", session)
            stack.callback(checked, "TF_CloseSession", session)
            tensors = []
            for array in feeds.values():
                tensors.append(given_to_tensor(c, array))
                stack.callback(c, "TF_DeleteTensor", tensors[-1])
            results = checked("TF_SessionRun", session, [*map(output, feeds)], tensors, [*map(output, fetches)])
            for result in results:
                stack.callback(c, "TF_DeleteTensor", result)
            return [given_from_tensor(c, result) for result in results]
        finally:
            c("TF_DeleteGraph", imported)

# %% wrong="session" why="deletes the feeds twice when the step succeeds"
def run_graph(c, graph, feeds, fetches):
    with contextlib.ExitStack() as stack:
        status = c("TF_NewStatus")
        stack.callback(c, "TF_DeleteStatus", status)

        def checked(name, *arguments):
            result = c(name, *arguments, status)
            if code := c("TF_GetCode", status):
                raise StatusError(code, c("TF_Message", status))
            return result

        def new(name, delete, *arguments):
            made = c(name, *arguments)
            stack.callback(c, delete, made)
            return made

        def output(tensor):
            node, _, index = tensor.partition(":")
            operation = c("TF_GraphOperationByName", imported, node)
            if not operation:
                raise KeyError(tensor)
            return operation, int(index or 0)

        imported = new("TF_NewGraph", "TF_DeleteGraph")
        buffer = new("TF_NewBufferFromString", "TF_DeleteBuffer", graph, len(graph))
        options = new("TF_NewImportGraphDefOptions", "TF_DeleteImportGraphDefOptions")
        checked("TF_GraphImportGraphDef", imported, buffer, options)
        session = checked("TF_NewSession", imported, new("TF_NewSessionOptions", "TF_DeleteSessionOptions"))
        stack.callback(checked, "TF_DeleteSession", session)
        stack.callback(checked, "TF_CloseSession", session)
        tensors = []
        for array in feeds.values():
            tensors.append(given_to_tensor(c, array))
            stack.callback(c, "TF_DeleteTensor", tensors[-1])
        results = checked("TF_SessionRun", session, [*map(output, feeds)], tensors, [*map(output, fetches)])
        values = [given_from_tensor(c, result) for result in results]
        for tensor in (*results, *tensors):
            c("TF_DeleteTensor", tensor)
        return values

# %% right="session" why="nested try and finally, and a status of its own for each call"
def run_graph(c, graph, feeds, fetches):
    def call(name, *arguments):
        status = c("TF_NewStatus")
        try:
            result = c(name, *arguments, status)
            code = c("TF_GetCode", status)
            if code != 0:
                raise StatusError(code, c("TF_Message", status))
            return result
        finally:
            c("TF_DeleteStatus", status)

    def load(target):
        buffer, options = c("TF_NewBufferFromString", graph, len(graph)), c("TF_NewImportGraphDefOptions")
        try:
            call("TF_GraphImportGraphDef", target, buffer, options)
        finally:
            c("TF_DeleteBuffer", buffer)
            c("TF_DeleteImportGraphDefOptions", options)

    def ends(names):
        found = []
        for name in names:
            node, index = name.split(":") if ":" in name else (name, "0")
            operation = c("TF_GraphOperationByName", target, node)
            if operation == 0:
                raise KeyError(f"there is no node {node}")
            found.append((operation, int(index)))
        return found

    def step(session):
        owned = []
        try:
            for array in feeds.values():
                owned.append(given_to_tensor(c, array))
            got = call("TF_SessionRun", session, ends(feeds), list(owned), ends(fetches))
            owned += got
            return [given_from_tensor(c, tensor) for tensor in got]
        finally:
            for tensor in owned:
                c("TF_DeleteTensor", tensor)

    target = c("TF_NewGraph")
    try:
        load(target)
        options = c("TF_NewSessionOptions")
        try:
            session = call("TF_NewSession", target, options)
        finally:
            c("TF_DeleteSessionOptions", options)
        try:
            return step(session)
        finally:
            try:
                call("TF_CloseSession", session)
            finally:
                call("TF_DeleteSession", session)
    finally:
        c("TF_DeleteGraph", target)

# %% wrong="session" why="says how feeds are freed when all were made: the first is lost when the second cannot be"
def run_graph(c: Callable, graph: bytes, feeds: dict[str, np.ndarray], fetches: list[str]) -> list[np.ndarray]:
    with contextlib.ExitStack() as stack:
        status = c("TF_NewStatus")
        stack.callback(c, "TF_DeleteStatus", status)

        def checked(name: str, *arguments: object) -> object:
            result = c(name, *arguments, status)
            if code := c("TF_GetCode", status):
                raise StatusError(code, c("TF_Message", status))
            return result

        def new(name: str, delete: str, *arguments: object) -> int:
            made = c(name, *arguments)
            stack.callback(c, delete, made)
            return made

        def output(tensor: str) -> tuple[int, int]:
            node, _, index = tensor.partition(":")
            operation = c("TF_GraphOperationByName", imported, node)
            if not operation:
                raise KeyError(tensor)
            return operation, int(index or 0)

        imported = new("TF_NewGraph", "TF_DeleteGraph")
        buffer = new("TF_NewBufferFromString", "TF_DeleteBuffer", graph, len(graph))
        options = new("TF_NewImportGraphDefOptions", "TF_DeleteImportGraphDefOptions")
        checked("TF_GraphImportGraphDef", imported, buffer, options)
        session = checked("TF_NewSession", imported, new("TF_NewSessionOptions", "TF_DeleteSessionOptions"))
        stack.callback(checked, "TF_DeleteSession", session)
        stack.callback(checked, "TF_CloseSession", session)
        tensors = [given_to_tensor(c, array) for array in feeds.values()]
        for tensor in tensors:
            stack.callback(c, "TF_DeleteTensor", tensor)
        results = checked("TF_SessionRun", session, [*map(output, feeds)], tensors, [*map(output, fetches)])
        for result in results:
            stack.callback(c, "TF_DeleteTensor", result)
        return [given_from_tensor(c, result) for result in results]

# %% wrong="session" why="frees results when all were read: they are lost when one cannot be"
def run_graph(c: Callable, graph: bytes, feeds: dict[str, np.ndarray], fetches: list[str]) -> list[np.ndarray]:
    with contextlib.ExitStack() as stack:
        status = c("TF_NewStatus")
        stack.callback(c, "TF_DeleteStatus", status)

        def checked(name: str, *arguments: object) -> object:
            result = c(name, *arguments, status)
            if code := c("TF_GetCode", status):
                raise StatusError(code, c("TF_Message", status))
            return result

        def new(name: str, delete: str, *arguments: object) -> int:
            made = c(name, *arguments)
            stack.callback(c, delete, made)
            return made

        def output(tensor: str) -> tuple[int, int]:
            node, _, index = tensor.partition(":")
            operation = c("TF_GraphOperationByName", imported, node)
            if not operation:
                raise KeyError(tensor)
            return operation, int(index or 0)

        imported = new("TF_NewGraph", "TF_DeleteGraph")
        buffer = new("TF_NewBufferFromString", "TF_DeleteBuffer", graph, len(graph))
        options = new("TF_NewImportGraphDefOptions", "TF_DeleteImportGraphDefOptions")
        checked("TF_GraphImportGraphDef", imported, buffer, options)
        session = checked("TF_NewSession", imported, new("TF_NewSessionOptions", "TF_DeleteSessionOptions"))
        stack.callback(checked, "TF_DeleteSession", session)
        stack.callback(checked, "TF_CloseSession", session)
        tensors = []
        for array in feeds.values():
            tensors.append(given_to_tensor(c, array))
            stack.callback(c, "TF_DeleteTensor", tensors[-1])
        results = checked("TF_SessionRun", session, [*map(output, feeds)], tensors, [*map(output, fetches)])
        values = [given_from_tensor(c, result) for result in results]
        for result in results:
            c("TF_DeleteTensor", result)
        return values

# %% wrong="session" why="asks for the code of closing and deleting, and does nothing with it"
def run_graph(c: Callable, graph: bytes, feeds: dict[str, np.ndarray], fetches: list[str]) -> list[np.ndarray]:
    with contextlib.ExitStack() as stack:
        status = c("TF_NewStatus")
        stack.callback(c, "TF_DeleteStatus", status)

        def checked(name: str, *arguments: object) -> object:
            result = c(name, *arguments, status)
            if code := c("TF_GetCode", status):
                raise StatusError(code, c("TF_Message", status))
            return result

        def new(name: str, delete: str, *arguments: object) -> int:
            made = c(name, *arguments)
            stack.callback(c, delete, made)
            return made

        def output(tensor: str) -> tuple[int, int]:
            node, _, index = tensor.partition(":")
            operation = c("TF_GraphOperationByName", imported, node)
            if not operation:
                raise KeyError(tensor)
            return operation, int(index or 0)

        imported = new("TF_NewGraph", "TF_DeleteGraph")
        buffer = new("TF_NewBufferFromString", "TF_DeleteBuffer", graph, len(graph))
        options = new("TF_NewImportGraphDefOptions", "TF_DeleteImportGraphDefOptions")
        checked("TF_GraphImportGraphDef", imported, buffer, options)
        session = checked("TF_NewSession", imported, new("TF_NewSessionOptions", "TF_DeleteSessionOptions"))

        def end(name):
            c(name, session, status)
            c("TF_GetCode", status)

        stack.callback(end, "TF_DeleteSession")
        stack.callback(end, "TF_CloseSession")
        tensors = []
        for array in feeds.values():
            tensors.append(given_to_tensor(c, array))
            stack.callback(c, "TF_DeleteTensor", tensors[-1])
        results = checked("TF_SessionRun", session, [*map(output, feeds)], tensors, [*map(output, fetches)])
        for result in results:
            stack.callback(c, "TF_DeleteTensor", result)
        return [given_from_tensor(c, result) for result in results]

# %% wrong="session" why="loses the session options when there is no session"
def run_graph(c: Callable, graph: bytes, feeds: dict[str, np.ndarray], fetches: list[str]) -> list[np.ndarray]:
    with contextlib.ExitStack() as stack:
        status = c("TF_NewStatus")
        stack.callback(c, "TF_DeleteStatus", status)

        def checked(name: str, *arguments: object) -> object:
            result = c(name, *arguments, status)
            if code := c("TF_GetCode", status):
                raise StatusError(code, c("TF_Message", status))
            return result

        def new(name: str, delete: str, *arguments: object) -> int:
            made = c(name, *arguments)
            stack.callback(c, delete, made)
            return made

        def output(tensor: str) -> tuple[int, int]:
            node, _, index = tensor.partition(":")
            operation = c("TF_GraphOperationByName", imported, node)
            if not operation:
                raise KeyError(tensor)
            return operation, int(index or 0)

        imported = new("TF_NewGraph", "TF_DeleteGraph")
        buffer = new("TF_NewBufferFromString", "TF_DeleteBuffer", graph, len(graph))
        options = new("TF_NewImportGraphDefOptions", "TF_DeleteImportGraphDefOptions")
        checked("TF_GraphImportGraphDef", imported, buffer, options)
        session_options = c("TF_NewSessionOptions")
        session = checked("TF_NewSession", imported, session_options)
        stack.callback(c, "TF_DeleteSessionOptions", session_options)
        stack.callback(checked, "TF_DeleteSession", session)
        stack.callback(checked, "TF_CloseSession", session)
        tensors = []
        for array in feeds.values():
            tensors.append(given_to_tensor(c, array))
            stack.callback(c, "TF_DeleteTensor", tensors[-1])
        results = checked("TF_SessionRun", session, [*map(output, feeds)], tensors, [*map(output, fetches)])
        for result in results:
            stack.callback(c, "TF_DeleteTensor", result)
        return [given_from_tensor(c, result) for result in results]

# %% wrong="session" why="does not delete a session that could not be closed"
def run_graph(c: Callable, graph: bytes, feeds: dict[str, np.ndarray], fetches: list[str]) -> list[np.ndarray]:
    with contextlib.ExitStack() as stack:
        status = c("TF_NewStatus")
        stack.callback(c, "TF_DeleteStatus", status)

        def checked(name: str, *arguments: object) -> object:
            result = c(name, *arguments, status)
            if code := c("TF_GetCode", status):
                raise StatusError(code, c("TF_Message", status))
            return result

        def new(name: str, delete: str, *arguments: object) -> int:
            made = c(name, *arguments)
            stack.callback(c, delete, made)
            return made

        def output(tensor: str) -> tuple[int, int]:
            node, _, index = tensor.partition(":")
            operation = c("TF_GraphOperationByName", imported, node)
            if not operation:
                raise KeyError(tensor)
            return operation, int(index or 0)

        imported = new("TF_NewGraph", "TF_DeleteGraph")
        buffer = new("TF_NewBufferFromString", "TF_DeleteBuffer", graph, len(graph))
        options = new("TF_NewImportGraphDefOptions", "TF_DeleteImportGraphDefOptions")
        checked("TF_GraphImportGraphDef", imported, buffer, options)
        session = checked("TF_NewSession", imported, new("TF_NewSessionOptions", "TF_DeleteSessionOptions"))

        def end():
            checked("TF_CloseSession", session)
            checked("TF_DeleteSession", session)

        stack.callback(end)
        tensors = []
        for array in feeds.values():
            tensors.append(given_to_tensor(c, array))
            stack.callback(c, "TF_DeleteTensor", tensors[-1])
        results = checked("TF_SessionRun", session, [*map(output, feeds)], tensors, [*map(output, fetches)])
        for result in results:
            stack.callback(c, "TF_DeleteTensor", result)
        return [given_from_tensor(c, result) for result in results]

# %% wrong="session" why="takes the last digit for the index"
def run_graph(c: Callable, graph: bytes, feeds: dict[str, np.ndarray], fetches: list[str]) -> list[np.ndarray]:
    with contextlib.ExitStack() as stack:
        status = c("TF_NewStatus")
        stack.callback(c, "TF_DeleteStatus", status)

        def checked(name: str, *arguments: object) -> object:
            result = c(name, *arguments, status)
            if code := c("TF_GetCode", status):
                raise StatusError(code, c("TF_Message", status))
            return result

        def new(name: str, delete: str, *arguments: object) -> int:
            made = c(name, *arguments)
            stack.callback(c, delete, made)
            return made

        def output(tensor: str) -> tuple[int, int]:
            node, _, index = tensor.partition(":")
            operation = c("TF_GraphOperationByName", imported, node)
            if not operation:
                raise KeyError(tensor)
            return operation, int(tensor[-1]) if index else 0

        imported = new("TF_NewGraph", "TF_DeleteGraph")
        buffer = new("TF_NewBufferFromString", "TF_DeleteBuffer", graph, len(graph))
        options = new("TF_NewImportGraphDefOptions", "TF_DeleteImportGraphDefOptions")
        checked("TF_GraphImportGraphDef", imported, buffer, options)
        session = checked("TF_NewSession", imported, new("TF_NewSessionOptions", "TF_DeleteSessionOptions"))
        stack.callback(checked, "TF_DeleteSession", session)
        stack.callback(checked, "TF_CloseSession", session)
        tensors = []
        for array in feeds.values():
            tensors.append(given_to_tensor(c, array))
            stack.callback(c, "TF_DeleteTensor", tensors[-1])
        results = checked("TF_SessionRun", session, [*map(output, feeds)], tensors, [*map(output, fetches)])
        for result in results:
            stack.callback(c, "TF_DeleteTensor", result)
        return [given_from_tensor(c, result) for result in results]

# %% wrong="session" why="runs the step once for each fetch"
def run_graph(c: Callable, graph: bytes, feeds: dict[str, np.ndarray], fetches: list[str]) -> list[np.ndarray]:
    with contextlib.ExitStack() as stack:
        status = c("TF_NewStatus")
        stack.callback(c, "TF_DeleteStatus", status)

        def checked(name: str, *arguments: object) -> object:
            result = c(name, *arguments, status)
            if code := c("TF_GetCode", status):
                raise StatusError(code, c("TF_Message", status))
            return result

        def new(name: str, delete: str, *arguments: object) -> int:
            made = c(name, *arguments)
            stack.callback(c, delete, made)
            return made

        def output(tensor: str) -> tuple[int, int]:
            node, _, index = tensor.partition(":")
            operation = c("TF_GraphOperationByName", imported, node)
            if not operation:
                raise KeyError(tensor)
            return operation, int(index or 0)

        imported = new("TF_NewGraph", "TF_DeleteGraph")
        buffer = new("TF_NewBufferFromString", "TF_DeleteBuffer", graph, len(graph))
        options = new("TF_NewImportGraphDefOptions", "TF_DeleteImportGraphDefOptions")
        checked("TF_GraphImportGraphDef", imported, buffer, options)
        session = checked("TF_NewSession", imported, new("TF_NewSessionOptions", "TF_DeleteSessionOptions"))
        stack.callback(checked, "TF_DeleteSession", session)
        stack.callback(checked, "TF_CloseSession", session)
        tensors = []
        for array in feeds.values():
            tensors.append(given_to_tensor(c, array))
            stack.callback(c, "TF_DeleteTensor", tensors[-1])
        results = []
        for fetch in fetches:
            results += checked("TF_SessionRun", session, [*map(output, feeds)], tensors, [output(fetch)])
        for result in results:
            stack.callback(c, "TF_DeleteTensor", result)
        return [given_from_tensor(c, result) for result in results]

# %% right="session" why="a class of its own for a missing node, which is a KeyError"
def run_graph(c: Callable, graph: bytes, feeds: dict[str, np.ndarray], fetches: list[str]) -> list[np.ndarray]:
    with contextlib.ExitStack() as stack:
        status = c("TF_NewStatus")
        stack.callback(c, "TF_DeleteStatus", status)

        def checked(name: str, *arguments: object) -> object:
            result = c(name, *arguments, status)
            if code := c("TF_GetCode", status):
                raise StatusError(code, c("TF_Message", status))
            return result

        def new(name: str, delete: str, *arguments: object) -> int:
            made = c(name, *arguments)
            stack.callback(c, delete, made)
            return made

        def output(tensor: str) -> tuple[int, int]:
            node, _, index = tensor.partition(":")
            operation = c("TF_GraphOperationByName", imported, node)
            if not operation:
                raise type("Missing", (KeyError,), {})(tensor)
            return operation, int(index or 0)

        imported = new("TF_NewGraph", "TF_DeleteGraph")
        buffer = new("TF_NewBufferFromString", "TF_DeleteBuffer", graph, len(graph))
        options = new("TF_NewImportGraphDefOptions", "TF_DeleteImportGraphDefOptions")
        checked("TF_GraphImportGraphDef", imported, buffer, options)
        session = checked("TF_NewSession", imported, new("TF_NewSessionOptions", "TF_DeleteSessionOptions"))
        stack.callback(checked, "TF_DeleteSession", session)
        stack.callback(checked, "TF_CloseSession", session)
        tensors = []
        for array in feeds.values():
            tensors.append(given_to_tensor(c, array))
            stack.callback(c, "TF_DeleteTensor", tensors[-1])
        results = checked("TF_SessionRun", session, [*map(output, feeds)], tensors, [*map(output, fetches)])
        for result in results:
            stack.callback(c, "TF_DeleteTensor", result)
        return [given_from_tensor(c, result) for result in results]
