"use strict";
// Files of the browser as WASI preview 1 (https://github.com/WebAssembly/WASI) has them: a folder of what was dropped,
// read in slices. The rest of that interface is there as far as the C library asks for it, and says so.

const errno = { badf: 8, inval: 28, io: 29, noent: 44, nosys: 52, notdir: 54 };
const kind = { directory: 3, file: 4, other: 2 };
const slice = 1 << 16;  // bytes that are read at once: headers between weights are small

/** @param {Map<string, Blob>} files by name; @param {(bytes: number) => void} read what was read so far */
function wasi(files, memory, read) {
  const reader = new FileReaderSync();
  const root = 3;
  const open = new Map();  // descriptor → { name, blob, at, from, part }
  let bytesRead = 0;
  let complaints = "";

  const view = () => new DataView(memory().buffer);
  const text = (at, size) => new TextDecoder().decode(new Uint8Array(memory().buffer, at, size));
  const named = (path) => path.replace(/^(\.?\/)+/, "");

  /** Up to `size` bytes of an open file. */
  function bytes(file, at, size) {
    const inside = file.part && at >= file.from && at < file.from + file.part.length;
    if (!inside) {
      const whole = Math.max(slice, Math.min(size, 16 * slice));
      file.part = new Uint8Array(reader.readAsArrayBuffer(file.blob.slice(at, at + whole)));
      file.from = at;
      bytesRead += file.part.length;
      read(bytesRead);
    }
    return file.part.subarray(at - file.from, at - file.from + size);
  }

  function readInto(file, vectors, count, from, result) {
    let at = from, total = 0;
    try {
      for (let i = 0; i < count; i += 1) {
        const to = view().getUint32(vectors + 8 * i, true);
        const wanted = view().getUint32(vectors + 8 * i + 4, true);
        for (let done = 0; done < wanted && at < file.blob.size;) {
          const part = bytes(file, at, wanted - done);
          new Uint8Array(memory().buffer).set(part, to + done);
          done += part.length;
          at += part.length;
          total += part.length;
        }
      }
    } catch (error) {
      return errno.io;  // the file went away, or may not be read
    }
    view().setUint32(result, total, true);
    file.at = at;
    return 0;
  }

  function writeStatus(at, fileKind, size) {
    for (let i = 0; i < 64; i += 8) view().setBigUint64(at + i, 0n, true);
    view().setUint8(at + 16, fileKind);
    view().setBigUint64(at + 24, 1n, true);
    view().setBigUint64(at + 32, BigInt(size), true);
    return 0;
  }

  const nothing = () => errno.nosys;
  const calls = {
    args_get: () => 0,
    args_sizes_get: (count, size) => (view().setUint32(count, 0, true), view().setUint32(size, 0, true), 0),
    environ_get: () => 0,
    environ_sizes_get: (count, size) => (view().setUint32(count, 0, true), view().setUint32(size, 0, true), 0),
    clock_time_get: (_id, _precision, at) => {
      view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    random_get: (at, size) => (crypto.getRandomValues(new Uint8Array(memory().buffer, at, size)), 0),
    fd_prestat_get: (fd, at) => {
      if (fd !== root) return errno.badf;
      view().setUint32(at, 0, true);
      view().setUint32(at + 4, 1, true);
      return 0;
    },
    fd_prestat_dir_name: (fd, at) => (fd === root ? (view().setUint8(at, 47), 0) : errno.badf),  // "/"
    fd_fdstat_get: (fd, at) => {
      const is = fd === root ? kind.directory : open.has(fd) ? kind.file : fd <= 2 ? kind.other : 0;
      if (!is) return errno.badf;
      for (let i = 0; i < 24; i += 8) view().setBigUint64(at + i, 0n, true);
      view().setUint8(at, is);
      view().setBigUint64(at + 8, 0x1fffffffn, true);
      view().setBigUint64(at + 16, 0x1fffffffn, true);
      return 0;
    },
    fd_fdstat_set_flags: () => 0,
    fd_filestat_get: (fd, at) => {
      if (fd === root) return writeStatus(at, kind.directory, 0);
      return open.has(fd) ? writeStatus(at, kind.file, open.get(fd).blob.size) : errno.badf;
    },
    path_filestat_get: (_fd, _flags, path, size, at) => {
      const name = named(text(path, size));
      if (name === "" || name === ".") return writeStatus(at, kind.directory, 0);
      return files.has(name) ? writeStatus(at, kind.file, files.get(name).size) : errno.noent;
    },
    path_open: (_fd, _look, path, size, _flags, _rights, _inherited, _fdflags, at) => {
      const name = named(text(path, size));
      if (!files.has(name)) return errno.noent;
      let fd = root + 1;
      while (open.has(fd)) fd += 1;
      open.set(fd, { name, blob: files.get(name), at: 0, from: 0, part: null });
      view().setUint32(at, fd, true);
      return 0;
    },
    fd_read: (fd, vectors, count, result) => {
      if (!open.has(fd)) return errno.badf;
      return readInto(open.get(fd), vectors, count, open.get(fd).at, result);
    },
    fd_seek: (fd, offset, whence, at) => {
      const file = open.get(fd);
      if (!file) return errno.badf;
      const to = Number(offset) + [0, file.at, file.blob.size][whence];
      if (!(to >= 0)) return errno.inval;
      file.at = to;
      view().setBigUint64(at, BigInt(to), true);
      return 0;
    },
    fd_close: (fd) => (open.delete(fd) ? 0 : errno.badf),
    fd_write: (fd, vectors, count, result) => {  // what the C++ library says before it gives up
      let total = 0;
      for (let i = 0; i < count; i += 1) {
        const at = view().getUint32(vectors + 8 * i, true), size = view().getUint32(vectors + 8 * i + 4, true);
        complaints += text(at, size);
        total += size;
      }
      view().setUint32(result, total, true);
      return 0;
    },
    sched_yield: () => 0,
    proc_exit: (code) => { throw new Error(complaints.trim() || `it ended with ${code}`); },
  };
  return new Proxy(calls, { get: (all, name) => all[name] ?? nothing });
}
