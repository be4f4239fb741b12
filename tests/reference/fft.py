"""Makes data/fft_*.npy, which tests/lib/fft.tly compares with: run once, with
NumPy 1.24, from the project's root:

    /usr/bin/python3 tests/reference/fft.py
"""
import numpy as np

here = "tests/reference/data/fft_"
rng = np.random.default_rng(20)


def save(name, x):
    np.save(here + name + ".npy", x)


# All lengths from 1 to 64, 100 and 1009: each input and each result follow one
# another in one array.
lengths = list(range(1, 65)) + [100, 1009]
x = [rng.standard_normal(n) + 1j * rng.standard_normal(n) for n in lengths]
save("lengths", np.array(lengths))
save("x", np.concatenate(x))
save("fft", np.concatenate([np.fft.fft(v) for v in x]))
save("ifft", np.concatenate([np.fft.ifft(v) for v in x]))
save("rfft", np.concatenate([np.fft.rfft(v.real) for v in x]))
# As many items as each length, of which a real transform back ignores some.
save("irfft", np.concatenate([np.fft.irfft(v, n=len(v)) for v in x]))
save("hfft", np.concatenate([np.fft.hfft(v, n=len(v)) for v in x]))
save("ihfft", np.concatenate([np.fft.ihfft(v.real) for v in x]))

# Axes, lengths and norms of one array of three axes.
a = rng.standard_normal((4, 5, 6)) + 1j * rng.standard_normal((4, 5, 6))
save("a", a)
for norm in "backward", "ortho", "forward":
    save("n_" + norm, np.fft.fftn(a, norm=norm))
    save("rn_" + norm, np.fft.rfftn(a.real, norm=norm))
    save("irn_" + norm, np.fft.irfftn(a, norm=norm))
    save("axis0_" + norm, np.fft.fft(a, axis=0, norm=norm))
    save("h_" + norm, np.fft.hfft(a, axis=1, norm=norm))
    save("ih_" + norm, np.fft.ihfft(a.real, axis=1, norm=norm))
save("in_s", np.fft.ifftn(a, s=(7, 3), axes=(2, 0)))
save("rn_s", np.fft.rfftn(a.real, s=(3, 9), axes=(0, 1)))
save("irn_s", np.fft.irfftn(a, s=(5, 7), axes=(2, 1)))
save("long", np.fft.fft(a, n=11, axis=1))
save("short", np.fft.rfft(a.real, n=3))
