"""Writes small images of coloured stripes for examples/resnet_train.yaml and examples/vit_train.yaml.

Usage: python3 examples/images/make_images.py FOLDER
FOLDER/train/CLASS/N.png    three classes of 40 RGB images of 32 x 32
FOLDER/cifar10.bin          120 records in CIFAR-10's binary format, of the first three classes
"""

import pathlib
import random
import struct
import sys
import zlib

SIZE = 32
CLASSES = ("diagonal", "horizontal", "vertical")
COUNT = 40  # images of a class


def pixels(label, number):
    """Rows of (red, green, blue): stripes in the class's direction, with noise."""
    draw = random.Random(1000 * label + number)
    period, phase = draw.uniform(5, 9), draw.uniform(0, 9)
    color = [draw.randrange(100, 256) for _ in range(3)]

    def pixel(y, x):
        along = (x + y, y, x)[label] + phase
        lit = along % period < period / 2
        return tuple(min(255, (value if lit else 30) + draw.randrange(20)) for value in color)

    return [[pixel(y, x) for x in range(SIZE)] for y in range(SIZE)]


def png(rows):
    """The rows as an RGB PNG file."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 2, 0, 0, 0)
    lines = b"".join(b"\0" + bytes(value for pixel in row for value in pixel) for row in rows)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) +
            chunk(b"IEND", b""))


def cifar10_record(label, rows):
    return bytes([label]) + bytes(pixel[channel] for channel in range(3) for row in rows for pixel in row)


def main():
    folder = pathlib.Path(sys.argv[1])
    records = []
    for label, name in enumerate(CLASSES):
        (folder / "train" / name).mkdir(parents=True, exist_ok=True)
        for number in range(COUNT):
            rows = pixels(label, number)
            (folder / "train" / name / f"{number:02}.png").write_bytes(png(rows))
            records.append(cifar10_record(label, rows))
    (folder / "cifar10.bin").write_bytes(b"".join(records))


if __name__ == "__main__":
    main()
