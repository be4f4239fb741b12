"""Makes the files data/io_* that tests/lib/files.tly reads: run once, with
NumPy 1.24, Pillow 9.4 and SciPy 1.10, from the project's root:

    /usr/bin/python3 tests/reference/files.py
"""
import gzip
import numpy as np
from PIL import Image
from scipy.io import wavfile

here = "tests/reference/data/io_"
rng = np.random.default_rng(5)
arrays = dict(a=np.arange(6.0).reshape(2, 3), b=np.array([1, 2], ">i2"), c=np.asfortranarray(np.eye(3)[:2]),
              s=np.array(["ab", "π"]), z=np.zeros((0, 3), np.float32))
np.savez(here + "plain.npz", **arrays)
np.savez_compressed(here + "packed.npz", **arrays)
np.save(here + "rgb.npy", np.add.outer(np.arange(5) * 40, np.arange(21).reshape(7, 3)).astype(np.uint8))
rgb = np.load(here + "rgb.npy")
Image.fromarray(rgb).save(here + "rgb.png")
Image.fromarray(rgb).save(here + "rgb.ppm")
Image.fromarray(rgb[..., 0]).save(here + "gray.png")
Image.fromarray(rgb[..., 0]).save(here + "gray.pgm")
Image.fromarray(np.dstack((rgb, rgb[..., :1]))).save(here + "rgba.png")
Image.fromarray(rgb[..., 0].astype(np.uint16) * 257).save(here + "gray16.png")
Image.fromarray(rgb[..., 0] > 90).save(here + "bits.png")
Image.fromarray(rgb).quantize(8).save(here + "palette.png")
np.save(here + "palette.npy", np.asarray(Image.open(here + "palette.png").convert("RGB")))
sound = (rng.normal(size=(20, 2)) * 3000).astype(np.int16)
np.save(here + "sound.npy", sound)
wavfile.write(here + "int16.wav", 8000, sound)
wavfile.write(here + "float32.wav", 44100, sound[:, 0].astype(np.float32) / 32768)
wavfile.write(here + "uint8.wav", 11025, (sound[:, 0] // 256 + 128).astype(np.uint8))
with open(here + "text.gz", "wb") as f:
    f.write(gzip.compress("first π\n".encode(), mtime=0) + gzip.compress(b"second\n", mtime=0))


def interlaced(name, x, depth, kind, palette=None):
    """A PNG by Adam7, which Pillow reads but does not write."""
    import struct
    import zlib
    h, w = x.shape[:2]
    raw = b""
    for x0, y0, dx, dy in ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)):
        part = x[y0::dy, x0::dx]
        if part.size:
            for row in part:
                bits = np.unpackbits(row.reshape(-1, 1).astype(np.uint8), axis=1)[:, 8 - depth:]
                raw += b"\0" + np.packbits(bits.ravel()).tobytes()

    def chunk(tag, data):
        return struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))
    with open(here + name + ".png", "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, depth, kind, 0, 0, 1)))
        if palette is not None:
            f.write(chunk(b"PLTE", palette.astype(np.uint8).tobytes()))
        f.write(chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))
    return np.asarray(Image.open(here + name + ".png").convert("RGB"))


assert (interlaced("interlaced", rgb, 8, 2) == rgb).all()
index = np.arange(35).reshape(5, 7) % 4
colors = np.array([[0, 0, 0], [255, 0, 0], [0, 200, 100], [1, 2, 3]])
assert (interlaced("interlaced2", index, 2, 3, colors) == colors[index]).all()
