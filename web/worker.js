"use strict";
// perfc in a thread of its own. Behind web/wasi.js.
//
// In:  { start: gzipped perfc.wasm }, { id, files: File[], words: string[] }
// Out: { ready: lists }, { failed }, { id, read, of } or { id, part, parts }, { id, code, json, messages, ms },
//      { id, code, page, messages, ms }

let module = null;
let instance = null;
let files = new Map();
let current = -1;  // before the first: what is read then is not shown
let lastTold = 0;

const memory = () => instance.exports.memory;

function told(fields) {
  const now = performance.now();
  if (now - lastTold < 50) return;
  lastTold = now;
  postMessage({ id: current, ...fields });
}

/** A new program: the old one's memory does not shrink, and after a fault it is not to be trusted. */
async function load() {
  const size = () => [...files.values()].reduce((sum, file) => sum + file.size, 0);
  instance = await WebAssembly.instantiate(module, {
    wasi_snapshot_preview1: wasi(files, memory, (bytes) => told({ read: bytes, of: size() })),
    perfc: { progress: (part, parts) => told({ part, parts }) },
  });
  instance.exports._initialize();
  const ready = lists();
  warm();
  return ready;
}

function said(which) {
  const { perfc_text, perfc_size } = instance.exports;
  const at = perfc_text(which), size = perfc_size(which);
  return new TextDecoder().decode(new Uint8Array(memory().buffer, at, size));
}

function lists() {
  if (instance.exports.perfc_lists() !== 0) throw new Error(said(2));
  return JSON.parse(said(0));
}

function predict(words, details) {
  const bytes = new TextEncoder().encode(`${words.join("\n")}\0`);
  const at = instance.exports.perfc_allocate(bytes.length);
  new Uint8Array(memory().buffer).set(bytes, at);
  const code = instance.exports.perfc_predict(at, details);
  instance.exports.perfc_release(at);
  return code;
}

// A model of the usual operators: browsers compile a function when it is first called, and they do not wait for a file
// to do so.
const warmUp = `ir_version: 8
opset_import { version: 17 }
graph {
  node { op_type: "Conv" input: "x" input: "w" output: "c" }
  node { op_type: "BatchNormalization" input: "c" input: "s" input: "s" input: "s" input: "s" output: "n" }
  node { op_type: "Relu" input: "n" output: "r" }
  node { op_type: "MaxPool" input: "r" output: "m" attribute { name: "kernel_shape" type: INTS ints: 1 ints: 1 } }
  node { op_type: "Add" input: "m" input: "r" output: "a" }
  node { op_type: "GlobalAveragePool" input: "a" output: "g" }
  node { op_type: "Flatten" input: "g" output: "f" }
  node { op_type: "Gemm" input: "f" input: "d" input: "s" output: "y" }
  initializer { name: "w" data_type: 1 dims: 8 dims: 3 dims: 3 dims: 3 }
  initializer { name: "s" data_type: 1 dims: 8 }
  initializer { name: "d" data_type: 1 dims: 8 dims: 8 }
  input { name: "x" type { tensor_type { elem_type: 1 shape {
    dim { dim_value: 1 } dim { dim_value: 3 } dim { dim_value: 32 } dim { dim_value: 32 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } dim { dim_value: 8 } } } } }
}`;

function warm() {
  files.set("warm.onnxtxt", new Blob([warmUp]));
  const code = predict(["warm.onnxtxt", "--batch", "2"], 0);
  files.clear();
  if (code !== 0) throw new Error(said(2));
}

const largestKept = 256 << 20;  // bytes of memory; a larger program is replaced before the next file

async function answer({ id, files: dropped, words }) {
  current = id;
  const begin = performance.now();
  const ms = () => performance.now() - begin;
  try {
    if (memory().buffer.byteLength > largestKept) await load();
    files.clear();
    for (const file of dropped) files.set(file.name, file);
    const code = predict(words, 0);
    postMessage({ id, code, json: said(0), messages: said(2), ms: ms() });
    if (said(0) === "") return;
    const whole = predict(words, 1);
    postMessage({ id, code: whole, page: said(1), messages: said(2), ms: ms() });
  } catch (fault) {  // a trap: the stack or the memory ran out, or a fault of ours
    postMessage({ id, code: 1, json: "", messages: `perfc gave up on this file: ${fault.message}`, ms: ms() });
    await load();
  }
}

let turn = Promise.resolve();
onmessage = ({ data }) => {
  if (data.start) {
    const unzipped = new Blob([data.start]).stream().pipeThrough(new DecompressionStream("gzip"));
    const compiled = new Response(unzipped).arrayBuffer().then((bytes) => WebAssembly.compile(bytes));
    turn = compiled.then((it) => { module = it; return load(); })
      .then((ready) => postMessage({ ready }), (error) => postMessage({ failed: error.message }));
  } else {
    turn = turn.then(() => answer(data));
  }
};
