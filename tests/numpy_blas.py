"""Prints the path of the OpenBLAS that NumPy's wheel brings along; nothing if there is none."""
import pathlib

try:
    import numpy
except ImportError:
    pass
else:
    package = pathlib.Path(numpy.__file__).parent
    print(*sorted(package.parent.glob('numpy.libs/libscipy_openblas*.so'))[:1])
