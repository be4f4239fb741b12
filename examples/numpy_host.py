"""A host in Python: arrays of NumPy go in through DLPack without a copy, results
come back the same way, and every reference count is what it was.

    python3 examples/numpy_host.py ./libtally.so
"""

import ctypes
import sys

import numpy as np

lib = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libtally.so")


class Value(ctypes.Structure):
    _fields_ = [("handle", ctypes.c_uint64), ("check", ctypes.c_uint64)]


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("kind", ctypes.c_char_p),
                ("message", ctypes.c_char_p)]


P = ctypes.c_void_p
lib.tally_open.argtypes = [P, ctypes.POINTER(P)]
lib.tally_close.argtypes = [P]
lib.tally_close.restype = ctypes.c_size_t
lib.tally_eval.argtypes = [P, ctypes.c_char_p, ctypes.POINTER(Value)]
lib.tally_call.argtypes = [P, ctypes.c_char_p, ctypes.c_int,
                           ctypes.POINTER(Value), ctypes.POINTER(Value)]
lib.tally_from_dlpack.argtypes = [P, P, ctypes.POINTER(Value)]
lib.tally_to_dlpack.argtypes = [P, Value, ctypes.POINTER(P)]
lib.tally_release.argtypes = [P, Value]
lib.tally_error.argtypes = [P]
lib.tally_error.restype = ctypes.POINTER(Error)

# Capsules: how Python passes DLPack tensors around.
api = ctypes.pythonapi
api.PyCapsule_GetPointer.restype = P
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [P, ctypes.c_char_p, P]
USED, FRESH = b"used_dltensor", b"dltensor"


class Tensor:
    """What np.from_dlpack asks for."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack__(self, **_):
        return api.PyCapsule_New(self.tensor, FRESH, None)

    def __dlpack_device__(self):
        return (1, 0)


class Tally:
    def __init__(self):
        self.vm = P()
        if lib.tally_open(None, ctypes.byref(self.vm)) != 0:
            raise MemoryError

    def check(self, status):
        if status != 0:
            error = lib.tally_error(self.vm).contents
            raise RuntimeError(f"{error.kind.decode()}: {error.message.decode()}")

    def run(self, source):
        self.check(lib.tally_eval(self.vm, source.encode(), None))

    def call(self, name, *arrays):
        args = (Value * len(arrays))()
        for i, array in enumerate(arrays):
            capsule = array.__dlpack__()
            tensor = api.PyCapsule_GetPointer(capsule, FRESH)
            self.check(lib.tally_from_dlpack(self.vm, tensor,
                                             ctypes.byref(args[i])))
            api.PyCapsule_SetName(capsule, USED)  # Tally has it now
        result, tensor = Value(), P()
        status = lib.tally_call(self.vm, name.encode(), len(arrays), args,
                                ctypes.byref(result))
        for arg in args:
            lib.tally_release(self.vm, arg)
        self.check(status)
        self.check(lib.tally_to_dlpack(self.vm, result, ctypes.byref(tensor)))
        lib.tally_release(self.vm, result)
        return np.from_dlpack(Tensor(tensor))

    def close(self):
        return lib.tally_close(self.vm)


tally = Tally()
tally.run("fn centre(x, y) = x - mean(x) + y\nfn all_of(x, y) = x")
x = np.arange(6.0).reshape(2, 3)
y = np.array([10.0, 20.0, 30.0])
before = sys.getrefcount(x), sys.getrefcount(y)

z = tally.call("centre", x, y)
print(z.dtype, z.tolist())
print("the same as NumPy's:", np.array_equal(z, x - x.mean() + y))

view = tally.call("all_of", x.T[::-1], y)
print("no copy on the way:", np.shares_memory(view, x))

try:
    tally.call("centre", x, np.ones(4))
except RuntimeError as error:
    print(error)

del z, view
print("counts as before:", (sys.getrefcount(x), sys.getrefcount(y)) == before)
print("values left:", tally.close())
