"""Where the C++ compiler is."""

import os
import shutil

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
