"""Archives of recorded programs, as small as xz makes them."""
import io
import lzma
import tarfile

FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 26}]


def compressed(data: bytes) -> bytes:
    return lzma.compress(data, filters=FILTERS)


def archive(files) -> bytes:
    """A .tar.xz of pairs (name, bytes), in their order; nothing in it tells when or by whom it was made."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, data in files:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return compressed(buffer.getvalue())
