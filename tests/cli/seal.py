# SPDX-License-Identifier: Apache-2.0
"""Stores that were altered, with their checksums made right again: what is then wrong with them only a reader can find."""
import ctypes, re, struct

_xxh = ctypes.CDLL("libxxhash.so.0")  # millrace needs it too
_xxh.XXH3_64bits.restype = ctypes.c_uint64
_xxh.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
BLOCK = 65536


def digest(data):
    return _xxh.XXH3_64bits(bytes(data), len(data))


def manifest_body(text):
    """What the manifest's checksum, its last line, is of."""
    body = text[: text.rindex(b"checksum ")]
    assert text == body + b"checksum %016x\n" % digest(body)
    return body


def put_manifest(path, body):
    with open(path, "wb") as f:
        f.write(body + b"checksum %016x\n" % digest(body))


def put_first_block(store, pages):
    """Writes out.pages, of which only the first block has changed: the first entry of sums."""
    with open(store + "/out.pages", "rb") as f:
        old = digest(f.read(BLOCK))
    with open(store + "/out.pages", "wb") as f:
        f.write(pages)
    with open(store + "/sums", "rb") as f:
        sums = bytearray(f.read())
    assert struct.unpack_from("<Q", sums)[0] == old
    struct.pack_into("<Q", sums, 0, digest(pages[:BLOCK]))
    with open(store + "/sums", "wb") as f:
        f.write(sums)
    with open(store + "/manifest", "rb") as f:
        body = manifest_body(f.read())
    put_manifest(store + "/manifest", re.sub(rb"\nsums [0-9a-f]+\n", b"\nsums %016x\n" % digest(sums), body))
