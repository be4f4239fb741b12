"""NumPy's arrays and Tally's are one memory."""

import numpy as np

import tally

x = np.arange(10.0)
y = tally.eval("x", x=x)
print(np.shares_memory(np.asarray(y), x), np.shares_memory(np.from_dlpack(y), x))
print(np.asarray(tally.eval("x * 2", x=x)))
f = tally.eval("x => x + 1")
for part in (x[::-1], x[::3], x.reshape(2, 5).T, x.astype("f4"), x > 3):
    z = np.asarray(f(part))
    print(z.dtype, np.array_equal(z, part + np.int8(1)))
print(tally.eval("x", x=np.float32(0.5)), tally.eval("x", x=np.int64(3)))
# A date's buffer is bytes without strides, which is none.
print(tally.eval("x", x=np.datetime64("2020-01-02")))
print(np.asarray(tally.eval("x + 1i", x=x)).dtype, np.asarray(tally.eval("x > 1", x=x)).dtype)
try:
    tally.eval("x", x=np.array(["a"]))
    tally.eval("x + 1")
except tally.Error as e:
    print(e.kind)
print(tally.eval("sum(x)", x=x), tally.eval("sum(x)", x=np.zeros((0, 3))))
