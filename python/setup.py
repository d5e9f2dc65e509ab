"""Builds the package: the Go library, which is called by ctypes, and the extension before it for small matrices.

scripts/wheel has both made already. Else this needs Go and a C compiler, in the repository or in an sdist, and the
extension NumPy's headers; without them, and before Python 3.10, ctypes does its work.
"""

import os
import pathlib
import platform
import shutil
import subprocess
import sys
import sysconfig

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.errors import ExecError

HERE = pathlib.Path(__file__).parent.resolve()


class Binary(Distribution):
    def has_ext_modules(self):
        return True


class Wheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", os.environ.get("COALESCE_WHEEL_PLATFORM") or sysconfig.get_platform().replace("-", "_").replace(".", "_")


class Build(build_py):
    def run(self):
        super().run()
        package = pathlib.Path(self.build_lib) / "coalesce"
        if any((package / name).exists() for name in ("libcoalesce.so", "libcoalesce.dll", "libcoalesce.dylib")):
            return
        sources = next((p for p in (HERE / "go", HERE.parent) if (p / "cmd" / "libcoalesce").is_dir()), None)
        if sources is None:
            raise ExecError("the library's Go sources are missing: build from the repository, or install a wheel that scripts/wheel made")
        if platform.system() != "Linux":
            raise ExecError(f"coalesce-solver is built on Linux alone, found {platform.system()}")
        if "musl" in (sysconfig.get_config_var("HOST_GNU_TYPE") or ""):
            raise ExecError("found Python on musl (Alpine), whose loader takes no library of Go's: use Python on glibc, such as the image python:slim, or the "
                            "program coalesce, which needs no C library (docs/python.md)")
        for tool, why in (("go", "Go, as go.mod says which"), (os.environ.get("CC", "gcc").split()[0], "a C compiler, named by CC or gcc")):
            if shutil.which(tool) is None:
                raise ExecError(f"building coalesce-solver needs {why}: found no {tool}. A wheel that scripts/wheel made needs none")
        package = package.resolve()
        self.announce("building the Go library, some minutes the first time", level=3)
        environment = {**os.environ, "CGO_ENABLED": "1"}
        subprocess.run(["go", "build", "-trimpath", "-buildmode=c-shared", "-ldflags=-s -w", "-o", str(package / "libcoalesce.so"), "./cmd/libcoalesce"],
                       cwd=sources, env=environment, check=True)
        (package / "libcoalesce.h").unlink(missing_ok=True)
        try:
            import numpy
        except ImportError:
            return
        door = [*os.environ.get("CC", "gcc").split(), "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-I" + numpy.get_include(), "-I" + sysconfig.get_path("include"),
                "-I" + str(sources / "cmd" / "libcoalesce"), str(HERE / "coalesce" / "_door.c"), "-o", str(package / "_door.abi3.so")]
        if sys.version_info >= (3, 10) and subprocess.run(door).returncode != 0:
            self.announce("the extension for small matrices was not built; ctypes does its work", level=3)


setup(distclass=Binary, cmdclass={"bdist_wheel": Wheel, "build_py": Build})
