"use strict";
// The graph on a canvas: places come from the file, so that thousands of nodes are there at once; only what is in view
// is painted. D3's zoom moves it; keys do the same.

const graphView = (() => {
  const { el, format, byId } = ui;
  const kColumn = 190,
    kRow = 74,
    kWide = 168,
    kHigh = 42; // of a node at zoom 1, in pixels

  // `g`: the graph's data. `look`: fill(node) → { fill, ink } or nulls, label(node) → [operator, time or "", name],
  // detail(node) → pairs, name(node), hot: nodes to step through, pick(node).
  function create(g, look) {
    const old = byId("graph-canvas"),
      canvas = old.cloneNode(true); // without the last graph's listeners
    old.replaceWith(canvas);
    const context = canvas.getContext("2d");
    const drawn = [];
    g.nodes.y.forEach((layer, node) => layer >= 0 && drawn.push(node));
    const xOf = (node) => g.nodes.x[node] * kColumn,
      yOf = (node) => g.nodes.y[node] * kRow;
    const rows = []; // nodes by layer
    for (const node of drawn) (rows[g.nodes.y[node]] ??= []).push(node);
    const edges = edgePaths();
    const readers = new Map(),
      reads = new Map();
    for (let e = 0; e < g.edges.length; e += 2) {
      const [from, to] = [g.edges[e], g.edges[e + 1]];
      (readers.get(from) ?? readers.set(from, []).get(from)).push(to);
      (reads.get(to) ?? reads.set(to, []).get(to)).push(from);
    }
    let picked = -1,
      found = new Set(),
      painting = 0,
      hotAt = -1;
    const zoom = d3.behavior.zoom().scaleExtent([0.004, 3]).on("zoom", paint);
    d3.select(canvas).call(zoom).on("dblclick.zoom", null);

    // Edges as curves through the places that they pass, with the layers between which they lie.
    function edgePaths() {
      const routes = new Map(g.routes.map(([edge, ...xs]) => [edge, xs]));
      const out = [];
      for (let e = 0; e < g.edges.length / 2; ++e) {
        const from = g.edges[2 * e],
          to = g.edges[2 * e + 1],
          path = new Path2D();
        let x = xOf(from),
          y = yOf(from) + kHigh / 2;
        let left = x,
          right = x;
        path.moveTo(x, y);
        const stops = (routes.get(e) ?? []).map((column, i) => [column * kColumn, (g.nodes.y[from] + 1 + i) * kRow]);
        for (const [nextX, nextY] of [...stops, [xOf(to), yOf(to) - kHigh / 2]]) {
          const middle = (y + nextY) / 2;
          path.bezierCurveTo(x, middle, nextX, middle, nextX, nextY);
          [x, y] = [nextX, nextY];
          left = Math.min(left, x);
          right = Math.max(right, x);
        }
        out.push({ from, to, path, top: yOf(from), bottom: yOf(to), left, right });
      }
      return out;
    }

    function size() {
      const ratio = devicePixelRatio || 1,
        { width, height } = canvas.getBoundingClientRect();
      if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
      }
      return { width, height, ratio };
    }

    function paint() {
      if (!painting) painting = requestAnimationFrame(paintNow);
    }

    function paintNow() {
      painting = 0;
      const { width, height, ratio } = size();
      const scale = zoom.scale(),
        [dx, dy] = zoom.translate();
      const colour = {
        line: ui.css("--soft"),
        ink: ui.css("--ink"),
        cold: ui.css("--cold"),
        accent: ui.css("--accent"),
        surface: ui.css("--surface"),
      };
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      context.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * dx, ratio * dy);
      const view = {
        left: -dx / scale - kWide,
        right: (width - dx) / scale + kWide,
        top: -dy / scale - kRow,
        bottom: (height - dy) / scale + kRow,
      };
      context.lineWidth = Math.max(1, 0.6 / scale);
      for (const e of edges) {
        if (e.bottom < view.top || e.top > view.bottom || e.right < view.left || e.left > view.right) continue;
        const near = e.from === picked || e.to === picked;
        context.strokeStyle = near ? colour.accent : colour.line;
        context.globalAlpha = near ? 1 : 0.45;
        context.stroke(e.path);
      }
      context.globalAlpha = 1;
      const texts = scale > 0.38;
      const first = Math.max(0, Math.floor(view.top / kRow)),
        last = Math.min(rows.length - 1, Math.ceil(view.bottom / kRow));
      for (let r = first; r <= last; ++r)
        for (const node of rows[r] ?? []) {
          const x = xOf(node),
            y = yOf(node);
          if (x >= view.left && x <= view.right) paintNode(node, x, y, scale, texts, colour);
        }
    }

    function paintNode(node, x, y, scale, texts, colour) {
      const { fill, ink } = look.fill(node);
      context.fillStyle = fill ?? colour.cold;
      context.beginPath();
      context.roundRect(x - kWide / 2, y - kHigh / 2, kWide, kHigh, 6);
      context.fill();
      const marked = node === picked || found.has(node);
      context.strokeStyle = marked ? colour.accent : colour.line;
      context.lineWidth = marked ? Math.max(3, 2.5 / scale) : 0.6;
      if (marked || scale > 0.15) context.stroke();
      if (!texts) return;
      const [title, time, name] = look.label(node);
      context.fillStyle = ink ?? colour.ink;
      context.font = "600 12px system-ui, sans-serif";
      context.fillText(cut(title, 24), x - kWide / 2 + 9, y - 3, kWide - 16);
      context.font = "11px system-ui, sans-serif";
      context.globalAlpha = 0.8;
      context.fillText(
        time ? `${time}  ${cut(name, 25 - time.length)}` : cut(name, 27),
        x - kWide / 2 + 9,
        y + 13,
        kWide - 16,
      );
      context.globalAlpha = 1;
    }

    const cut = (text, most) => (text.length > most ? `…${text.slice(1 - most)}` : text);

    function moveTo(scale, x, y) {
      const { width, height } = size();
      zoom.scale(scale).translate([width / 2 - x * scale, height / 2 - y * scale]);
      paint();
    }

    function showAll() {
      const { width, height } = size();
      const wide = (g.width + 1.2) * kColumn,
        high = (g.layers + 0.5) * kRow;
      moveTo(
        Math.max(0.004, Math.min(1, width / wide, height / high)),
        (g.width / 2) * kColumn,
        ((g.layers - 1) / 2) * kRow,
      );
    }

    // The beginning, at a size that can be read.
    function showStart() {
      const { width, height } = size();
      const scale = Math.max(0.45, Math.min(1, width / ((g.width + 1.2) * kColumn)));
      const first = rows[0]?.[0] ?? drawn[0];
      if (first !== undefined) moveTo(scale, xOf(first), Math.max(0, height / 2 / scale - kRow));
    }

    function zoomBy(factor) {
      const { width, height } = size(),
        before = zoom.scale();
      const scale = Math.max(0.004, Math.min(3, before * factor)),
        [dx, dy] = zoom.translate();
      const middle = (d, extent) => extent / 2 - ((extent / 2 - d) * scale) / before;
      zoom.scale(scale).translate([middle(dx, width), middle(dy, height)]);
      paint();
    }

    function moveBy(x, y) {
      const [dx, dy] = zoom.translate();
      zoom.translate([dx + x, dy + y]);
      paint();
    }

    function nodeAt(event) {
      const box = canvas.getBoundingClientRect(),
        [dx, dy] = zoom.translate(),
        scale = zoom.scale();
      const x = (event.clientX - box.left - dx) / scale,
        y = (event.clientY - box.top - dy) / scale;
      const row = rows[Math.round(y / kRow)] ?? [];
      return row.find((node) => Math.abs(xOf(node) - x) <= kWide / 2 && Math.abs(yOf(node) - y) <= kHigh / 2) ?? -1;
    }

    function show(node, centre) {
      picked = node;
      const detail = byId("graph-detail");
      detail.replaceChildren();
      if (node >= 0) {
        const list = el("dl");
        for (const [key, value] of look.detail(node)) list.append(el("dt", {}, key), el("dd", {}, value));
        const near = (title, nodes) =>
          nodes?.length
            ? el(
                "p",
                {},
                `${title} `,
                ...nodes
                  .slice(0, 6)
                  .flatMap((n) => [
                    el("button", { type: "button", onclick: () => look.pick(n) }, look.label(n)[0]),
                    " ",
                  ]),
              )
            : null;
        detail.append(el("b", {}, look.name(node)), list);
        for (const p of [near("reads", reads.get(node)), near("read by", readers.get(node))]) if (p) detail.append(p);
        if (centre && g.nodes.y[node] >= 0) moveTo(Math.max(zoom.scale(), 0.75), xOf(node), yOf(node));
      }
      paint();
    }

    function nextHot() {
      if (!look.hot.length) return;
      hotAt = (hotAt + 1) % look.hot.length;
      look.pick(look.hot[hotAt]);
    }

    function find(text) {
      const wanted = text.trim().toLowerCase();
      found = new Set(
        wanted ? drawn.filter((n) => `${look.name(n)}\u0000${look.label(n)[0]}`.toLowerCase().includes(wanted)) : [],
      );
      byId("graph-found").textContent = wanted ? `${found.size} found` : "";
      const [first] = found;
      if (first !== undefined) moveTo(Math.max(zoom.scale(), 0.5), xOf(first), yOf(first));
      else paint();
    }

    const keys = {
      ArrowLeft: () => moveBy(80, 0),
      ArrowRight: () => moveBy(-80, 0),
      ArrowUp: () => moveBy(0, 80),
      ArrowDown: () => moveBy(0, -80),
      "+": () => zoomBy(1.4),
      "=": () => zoomBy(1.4),
      "-": () => zoomBy(1 / 1.4),
      0: showAll,
      h: nextHot,
      H: nextHot,
    };
    canvas.addEventListener("keydown", (event) => {
      if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      keys[event.key]();
    });
    let down = null;
    canvas.addEventListener("pointerdown", (event) => {
      down = [event.clientX, event.clientY];
    });
    canvas.addEventListener("click", (event) => {
      if (down && Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 4) return; // it was dragged
      look.pick(nodeAt(event));
    });
    canvas.addEventListener("mousemove", (event) => {
      const node = event.buttons ? -1 : nodeAt(event);
      canvas.style.cursor = node >= 0 ? "pointer" : "";
      if (node >= 0) ui.tip.show(event, look.name(node), look.detail(node));
      else ui.tip.hide();
    });
    canvas.addEventListener("mouseleave", ui.tip.hide);
    byId("graph-find").oninput = (event) => find(event.target.value);
    byId("graph-hot").onclick = nextHot;
    byId("graph-in").onclick = () => zoomBy(1.4);
    byId("graph-out").onclick = () => zoomBy(1 / 1.4);
    byId("graph-all").onclick = showAll;
    ui.drawn(paintNow); // at once: paper does not wait
    showStart();
    return { show, state: () => ({ scale: zoom.scale(), translate: zoom.translate(), picked, nodes: drawn.length }) };
  }

  return { create };
})();
