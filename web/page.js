"use strict";
// The page: settings, files, and what the worker answers. Texts of models only ever become text nodes.

const page = (() => {
  const byId = (id) => document.getElementById(id);
  const held = (id) => byId(id).textContent;

  // ---- Themes: the report in its frame follows the frame's color scheme.
  const system = matchMedia("(prefers-color-scheme: dark)");
  const themes = ["system", "light", "dark"];
  let theme = "system";
  function applyTheme() {
    const dark = theme === "dark" || (theme === "system" && system.matches);
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    byId("theme").textContent = `Theme: ${theme}`;
  }
  byId("theme").addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    applyTheme();
    keepSettings();
  });
  system.addEventListener("change", applyTheme);

  // ---- Settings, which the address holds.
  const settings = { batch: "", further: "", devices: [] };
  function readSettings() {
    const hash = new URLSearchParams(location.hash.slice(1));
    settings.batch = hash.get("batch") ?? "";
    settings.further = hash.get("options") ?? "";
    settings.devices = (hash.get("device") ?? "").split(",").filter((name) => name !== "");
    theme = themes.includes(hash.get("theme")) ? hash.get("theme") : "system";
    byId("batch").value = settings.batch;
    byId("further").value = settings.further;
    for (const box of boxes()) box.checked = settings.devices.includes(box.value);
    applyTheme();
    showChosen();
  }
  function keepSettings() {
    const hash = new URLSearchParams();
    if (settings.batch) hash.set("batch", settings.batch);
    if (settings.devices.length) hash.set("device", settings.devices.join(","));
    if (settings.further) hash.set("options", settings.further);
    if (theme !== "system") hash.set("theme", theme);
    const text = hash.toString().replaceAll("%2C", ",");
    if (location.hash.slice(1) !== text) history.replaceState(null, "", `#${text}`);
  }
  const boxes = () => byId("devices").querySelectorAll("input");
  function showChosen() {
    byId("chosen").textContent = settings.devices.length ? `chosen: ${settings.devices.join(", ")}`
      : "none chosen: a100-40gb";
  }
  let waiting = 0;
  function changed() {
    settings.batch = byId("batch").value.trim();
    settings.further = byId("further").value.trim();
    // What the list does not have, as slices of a device, stays from the address.
    const listed = new Set([...boxes()].map((box) => box.value));
    const others = settings.devices.filter((name) => !listed.has(name));
    settings.devices = [...boxes()].filter((box) => box.checked).map((box) => box.value).concat(others);
    showChosen();
    keepSettings();
    clearTimeout(waiting);
    waiting = setTimeout(ask, 400);
  }
  for (const id of ["batch", "further"]) byId(id).addEventListener("input", changed);
  byId("devices").addEventListener("change", changed);
  byId("search").addEventListener("input", () => {
    const words = byId("search").value.toLowerCase().split(" ");
    for (const label of byId("devices").children)
      label.hidden = !words.every((word) => label.textContent.toLowerCase().includes(word));
  });
  addEventListener("hashchange", () => { readSettings(); ask(); });

  /** Words of the further options: what stands in quotes is one. */
  function words() {
    const out = [];
    for (const [, quoted, single, plain] of settings.further.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g))
      out.push(quoted ?? single ?? plain);
    if (settings.batch) out.push("--batch", settings.batch);
    if (settings.devices.length) out.push("--device", settings.devices.join(","));
    return out.map((word) => word.replaceAll("\n", " "));
  }

  // ---- The worker.
  const worker = new Worker(URL.createObjectURL(new Blob([held("worker")], { type: "text/javascript" })));
  let ready = false;
  let model = null;  // { files, name }
  let asked = 0;
  let isNew = false;  // the model was just given: its answer is shown
  const links = new Map();  // link's id → address of what it saves

  function bytesOf(base64) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
    return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  }
  worker.postMessage({ start: bytesOf(held("program").trim()) });
  byId("program").remove();

  function ask() {
    if (!ready || !model) return;
    asked += 1;
    say(`Reading ${model.name} …`);
    worker.postMessage({ id: asked, files: model.files, words: [model.name, ...words()] });
    byId("command").textContent = ["perfc", model.name, ...words()].map(quoted).join(" ");
  }
  const quoted = (word) => (/^[\w.,:=/@+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

  function say(text, part = -1, parts = 0) {
    byId("status").textContent = text;
    byId("progress").hidden = part < 0;
    if (part >= 0 && parts > 0) byId("progress").max = parts;
    if (part >= 0 && parts > 0) byId("progress").value = part;
  }

  const megabytes = (bytes) => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
  const digits = (x) => (x === 0 ? "0" : x >= 1000 ? Math.round(x).toLocaleString("en") : x.toPrecision(3));

  function cell(row, text, numeric = false) {
    const td = row.insertCell();
    td.textContent = text;
    if (numeric) td.className = "num";
  }
  function showFigures(predictions) {
    byId("figures").hidden = predictions.length === 0;
    byId("rows").replaceChildren();
    for (const p of predictions) {
      const row = byId("rows").insertRow();
      const [low, high] = p.latency_ms_interval;
      cell(row, p.device);
      cell(row, p.batch);
      cell(row, `${digits(p.latency_ms)} ms (${digits(low)} … ${digits(high)})`, true);
      cell(row, digits(p.throughput_per_s), true);
      cell(row, `${digits(p.memory_mib)} MiB`, true);
      cell(row, `${digits(p.energy_j)} J`, true);
      cell(row, p.mig?.profile ?? "–");
      cell(row, p.fits ? `fits; bound by the ${p.bound}` : "out of memory");
    }
  }
  function offer(id, text, type, name) {
    const link = byId(id);
    URL.revokeObjectURL(links.get(id));
    link.hidden = text === "";
    links.set(id, URL.createObjectURL(new Blob([text], { type })));
    link.href = links.get(id);
    link.download = name;
    return link.href;
  }
  function showMessages(messages, good) {
    byId("messages").hidden = messages === "";
    byId("messages").textContent = messages;
    byId("messages").classList.toggle("warnings", good);
  }

  function answered(data) {
    byId("answer").hidden = false;
    if (isNew) byId("answer").scrollIntoView({ block: "nearest" });
    isNew = false;
    byId("took").textContent = `${model.name}: answered in ${data.ms.toFixed(0)} ms`;
    showMessages(data.messages, data.code === 0);
    showFigures(data.json === "" ? [] : JSON.parse(data.json).predictions);
    offer("save-json", data.json, "application/json", `${model.name}.json`);
    byId("save-page").hidden = byId("report").hidden = true;
    if (data.json === "") say("It could not be predicted; the messages say why.");
    else say("Drawing the report …", 1, 2);
  }
  function drawn(data) {
    showMessages(data.messages, data.code === 0);
    // A frame that was hidden while it loaded can stay blank in Chromium, so that each report gets a new one.
    const frame = byId("report").cloneNode();
    frame.src = offer("save-page", data.page, "text/html", `${model.name}.html`);
    frame.hidden = data.page === "";
    byId("report").replaceWith(frame);
    say(`Done in ${data.ms.toFixed(0)} ms.`);
  }
  const reading = ({ read, of }) => say(`Reading ${model.name}: ${megabytes(read)} of ${megabytes(of)}`, read, of);
  function started(lists) {
    ready = true;
    byId("version").textContent = lists.version;
    byId("formats").textContent = lists.formats.join(" ");
    for (const device of lists.devices) {
      const label = document.createElement("label");
      const box = document.createElement("input");
      box.type = "checkbox";
      box.value = device.name;
      label.append(box, ` ${device.title}`);
      byId("devices").append(label);
    }
    for (const { names, help } of lists.options.filter((option) => option.names.startsWith("-"))) {
      const row = byId("options").insertRow();
      cell(row, names);
      cell(row, help);
    }
    readSettings();
    say("Ready: no model yet.");
    ask();
  }
  worker.onmessage = ({ data }) => {
    if (data.ready) started(data.ready);
    else if (data.failed) say(`This browser cannot run perfc: ${data.failed}`);
    else if (data.id !== asked) return;  // overtaken
    else if ("json" in data) answered(data);
    else if ("page" in data) drawn(data);
    else if ("read" in data) reading(data);
    else say(`Predicting batch ${data.part + 1} of ${data.parts} …`, data.part, data.parts);
  };
  worker.onerror = (event) => say(`The worker ended: ${event.message}; load the page again`);

  // ---- Files. Of several the model is the one of a format that perfc reads; the others may hold its masks.
  function take(list) {
    const files = [...list];
    if (files.length === 0) return;
    const endings = byId("formats").textContent.split(" ").filter((ending) => ending !== "");
    const known = files.find((file) => endings.some((ending) => file.name.endsWith(ending)));
    model = { files, name: (known ?? files[0]).name };
    isNew = true;
    ask();
  }
  byId("file").addEventListener("change", () => take(byId("file").files));
  addEventListener("dragover", (event) => {
    event.preventDefault();
    byId("drop").classList.add("over");
  });
  addEventListener("dragleave", () => byId("drop").classList.remove("over"));
  addEventListener("drop", (event) => {
    event.preventDefault();
    byId("drop").classList.remove("over");
    take(event.dataTransfer.files);
  });

  readSettings();
  return { settings, asked: () => asked };
})();
