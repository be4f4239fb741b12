"""Builds the extension of the package tally: `pip install stdlib/python`.

It is linked with libtally.a of the tree around it, which is made first; where
that is to come from elsewhere, TALLY_ROOT and TALLY_LIBRARY name the sources and
the library. The wheel is for every Python from 3.9 on (abi3).
"""

import os
import subprocess

from setuptools import Extension, setup

here = os.path.dirname(os.path.abspath(__file__))
root = os.environ.get("TALLY_ROOT") or os.path.dirname(os.path.dirname(here))
library = os.environ.get("TALLY_LIBRARY")
if library is None:
    library = os.path.join(root, "build", "release", "libtally.a")
    subprocess.check_call(["make", "-C", root, "build/release/libtally.a"])

setup(
    ext_modules=[
        Extension(
            "tally._tally",
            ["_tally.c"]
            + [
                os.path.relpath(os.path.join(root, "stdlib", "native", name), here)
                for name in ("python_values.c",)
            ],
            include_dirs=[root],
            extra_objects=[library],
            libraries=["utf8proc", "m", "dl", "pthread"],
            extra_compile_args=["-std=c11", "-fvisibility=hidden"],
            py_limited_api=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
)
