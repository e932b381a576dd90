"use strict";
// What every page shares: elements, figures with units, tooltips, themes.
// Texts of models (names, operators, warnings) only ever become text nodes: never markup.

const page = JSON.parse(document.getElementById("data").textContent);

const ui = (() => {
  const byId = (id) => document.getElementById(id);

  // An element: attributes by name ("on…" are listeners, null is left out), children as nodes or texts.
  function el(tag, attributes = {}, ...children) {
    const out = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (key.startsWith("on")) out.addEventListener(key.slice(2), value);
      else out.setAttribute(key, value === true ? "" : value);
    }
    out.append(...children.filter((c) => c !== null && c !== undefined));
    return out;
  }

  const fill = (id, ...children) => byId(id).replaceChildren(...children.filter((c) => c !== null));

  // ---- Figures. Three significant digits: more would claim what no prediction knows.
  function digits(x) {
    if (!Number.isFinite(x)) return "–"; // per nothing: a model that launches no kernel takes no time
    if (Number.isInteger(x) || Math.abs(x) >= 999.5) return Math.round(x).toLocaleString("en");
    return Math.abs(x) < 1e-3 ? `${+x.toPrecision(3)}` : x.toPrecision(3);
  }
  // "4.00 ms" as the label of an axis: "4 ms".
  const short = (text) => text.replace(/\.(\d*?)0+(?=\D|$)/, (_, kept) => (kept ? `.${kept}` : ""));

  function scaled(x, unit, step = 1000, prefixes = ["", "K", "M", "G", "T", "P"]) {
    let i = 0;
    while (Math.abs(x) >= 0.9995 * step && i < prefixes.length - 1) {
      x /= step;
      ++i;
    }
    const text = digits(x);
    const apart = unit === "" || unit.startsWith("/") ? "" : "\u00a0"; // 25.6M, 307/s, 1.5 TFLOP
    return `${text}${apart}${prefixes[i]}${unit}`;
  }

  const format = {
    us: (us) =>
      us >= 1e6
        ? `${digits(us / 1e6)}\u00a0s`
        : us >= 1000
          ? `${digits(us / 1000)}\u00a0ms`
          : `${digits(us)}\u00a0µs`,
    ms: (ms) => format.us(ms * 1000),
    mib: (mib) => (mib >= 1024 ? `${digits(mib / 1024)}\u00a0GiB` : `${digits(mib)}\u00a0MiB`),
    bytes: (b) => scaled(b, "B", 1024, ["", "Ki", "Mi", "Gi", "Ti"]),
    macs: (n) => scaled(n, "MAC"),
    flops: (f) => scaled(f, "FLOP"),
    rate: (f) => scaled(f, "FLOP/s"),
    bandwidth: (b) => scaled(b, "B/s"),
    count: (n) => scaled(n, ""),
    perSecond: (n) => scaled(n, "/s"),
    joule: (j) => (j < 1 ? `${digits(j * 1000)}\u00a0mJ` : `${digits(j)}\u00a0J`),
    percent: (share) => {
      const p = 100 * share;
      return `${p > 0 && p < 0.1 ? "<0.1" : p >= 99.95 || p === 0 ? p.toFixed(0) : p.toFixed(1)}\u00a0%`;
    },
    digits,
    short,
  };

  // "90 %: 1.58 … 8.14 ms": the unit once where both have the same.
  function range(write, lo, hi) {
    const a = write(lo),
      b = write(hi);
    const unit = (text) => text.replace(/^[\d.,]+/, "");
    return unit(a) === unit(b) ? `${a.slice(0, a.length - unit(a).length)} … ${b}` : `${a} … ${b}`;
  }

  // A section and its link; whether there is something to show in it.
  function section(id, shown) {
    byId(id).hidden = !shown;
    document.querySelector(`nav.sections a[href="#${id}"]`).parentElement.hidden = !shown;
    return shown;
  }

  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // ---- Tooltip: a title and pairs of texts beside the pointer.
  const tip = {
    show(event, title, pairs) {
      const box = byId("tip");
      const list = el("dl");
      for (const [key, value] of pairs) list.append(el("dt", {}, key), el("dd", {}, value));
      box.replaceChildren(el("b", {}, title), list);
      box.hidden = false;
      const { width, height } = box.getBoundingClientRect();
      const x = event.clientX + 14 + width > innerWidth ? event.clientX - width - 14 : event.clientX + 14;
      const y = event.clientY + 14 + height > innerHeight ? event.clientY - height - 14 : event.clientY + 14;
      box.style.left = `${Math.max(4, x)}px`;
      box.style.top = `${Math.max(4, y)}px`;
    },
    hide() {
      byId("tip").hidden = true;
    },
  };

  // ---- What is drawn again when the width or the theme changes.
  const drawings = [];
  function drawn(draw) {
    drawings.push(draw);
    draw();
  }
  const redraw = () => drawings.forEach((draw) => draw());
  const forget = () => drawings.splice(0);

  let width = innerWidth,
    waiting = 0;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(redraw, 120);
  });

  // ---- Theme: the system's unless chosen; paper is white.
  const system = matchMedia("(prefers-color-scheme: dark)");
  const themes = ["system", "light", "dark"];
  let theme = "system";
  function applyTheme(printing = false) {
    const dark = !printing && (theme === "dark" || (theme === "system" && system.matches));
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    byId("theme").textContent = `Theme: ${theme}`;
    redraw();
  }
  function controls() {
    byId("theme").addEventListener("click", () => {
      theme = themes[(themes.indexOf(theme) + 1) % themes.length];
      applyTheme();
    });
    system.addEventListener("change", () => applyTheme());
    addEventListener("beforeprint", () => applyTheme(true));
    addEventListener("afterprint", () => applyTheme());
    byId("print").addEventListener("click", () => print());
    byId("licence").textContent = byId("d3-licence").textContent;
    applyTheme();
  }

  return { byId, el, fill, section, format, range, css, tip, drawn, redraw, forget, controls };
})();
