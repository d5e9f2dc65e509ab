"""A wheel for any Python 3 of one platform: the library is C, and called by ctypes."""

import os
import platform

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel


class Binary(Distribution):
    def has_ext_modules(self):
        return True


class Wheel(bdist_wheel):
    def get_tag(self):
        arch = os.environ.get("COALESCE_WHEEL_ARCH", platform.machine())
        return "py3", "none", "manylinux_2_17_" + arch + ".manylinux2014_" + arch


setup(distclass=Binary, cmdclass={"bdist_wheel": Wheel})
