"""Where the C++ compiler is, the headers of Python, and SWIG."""

import glob
import importlib.util
import os
import shutil
import sysconfig

NAMES = ("g++", "c++", "clang++")


def find_compiler() -> str:
    """Path of a C++ compiler: `$CXX` if it names a program, else the first of g++, c++, clang++ on the search path.

    Raises:
        FileNotFoundError: there is none; the message says what to install.
    """
    for name in filter(None, (os.environ.get("CXX"), *NAMES)):
        if path := shutil.which(name):
            return path
    raise FileNotFoundError(
        f"no C++ compiler: neither $CXX nor any of {', '.join(NAMES)} is a program on the search path.\n"
        "Install one:  sudo apt-get install g++  (Debian, Ubuntu)\n"
        "         or:  conda install -c conda-forge cxx-compiler  (conda)\n"
        "         or:  xcode-select --install  (macOS)"
    )


def find_python_headers() -> str:
    """A folder with Python.h, with which extension modules in C are compiled for the Python that is running.

    The interpreter's own, else the copy in TensorFlow's wheel, which is made for one minor version of Python.

    Raises:
        FileNotFoundError: neither is there; the message says what to install.
    """
    folder = sysconfig.get_paths()["include"]
    package = importlib.util.find_spec("tensorflow")
    inside = "include/external/local_config_python/python_include"
    copies = [f"{path}/{inside}" for path in (package.submodule_search_locations or ())] if package else []
    for found in (folder, *copies):
        if os.path.exists(f"{found}/Python.h"):  # noqa: PTH110
            return found
    version = sysconfig.get_python_version()
    raise FileNotFoundError(
        f"no Python.h in {folder}: the headers of Python {version} are not installed.\n"
        f"Install them:  sudo apt-get install python{version}-dev  (Debian, Ubuntu)\n"
        "          or:  use a Python from conda-forge or python.org, which brings them along"
    )


def find_swig() -> list[str]:
    """How a command line begins that runs SWIG: the program of the package `swig` if it is installed, else of the path.

    Raises:
        FileNotFoundError: there is none; the message says what to install.
    """
    package = importlib.util.find_spec("swig")
    for folder in (package.submodule_search_locations or ()) if package else ():
        program = f"{folder}/data/bin/swig"
        for library in glob.glob(f"{folder}/data/share/swig/[0-9]*"):  # noqa: PTH207
            return [program, f"-I{library}/python", f"-I{library}"]  # the program looks where it was built, else
    if path := shutil.which("swig"):
        return [path]
    raise FileNotFoundError("no SWIG: install the package `swig` with pip, or Debian's package `swig`")
