"""Builds the extension of the package tally: `pip install stdlib/python`.

It is linked with libtally.a of the tree around it, which is made first; where
that is to come from elsewhere, TALLY_ROOT and TALLY_LIBRARY name the sources and
the library. The wheel is for every Python from 3.9 on (abi3).
"""

import os
import subprocess

from setuptools import Extension, setup

# TALLY_ROOT is needed where the folder was copied away from the tree, as some
# builds of wheels do.
here = os.path.dirname(os.path.abspath(__file__))
root = os.environ.get("TALLY_ROOT") or os.path.dirname(os.path.dirname(here))
library = os.environ.get("TALLY_LIBRARY")
if library is None:
    library = os.path.join(root, "build", "release", "libtally.a")
    # make looks whether it is up to date; release, for a wheel is optimized.
    subprocess.check_call(["make", "-C", root, "build/release/libtally.a"])

setup(
    ext_modules=[
        Extension(
            "tally._tally",
            ["_tally.c"]
            + [
                os.path.relpath(os.path.join(root, "stdlib", "native", name), here)
                for name in (
                    "python_link.c",
                    "python_held.c",
                    "python_values.c",
                    "python_object.c",
                )
            ],
            include_dirs=[root],
            extra_objects=[library],
            libraries=["utf8proc", "m", "dl", "pthread"],
            # Nothing of the C part may meet the same names of a native module
            # that a script imports (python.so has its own python_values.c).
            extra_compile_args=["-std=c11", "-fvisibility=hidden"],
            # Names the file _tally.abi3.so; the option below names the wheel.
            py_limited_api=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
)
