"use strict";
// Where time and memory go: modules as boxes, in them their operators, as large as what they take.

const treemap = (() => {
  const { el, format, byId } = ui;
  const kMeasures = [
    { key: "us", title: "Device time", write: format.us },
    { key: "held", title: "Memory at the peak", write: format.bytes },
    { key: "bytes", title: "Bytes moved", write: format.bytes },
    { key: "flops", title: "FLOPs", write: format.flops },
    { key: "params", title: "Parameters", write: format.count },
  ];
  const kColours = 7,
    kMostLeaves = 1500;

  // What each node takes of each measure.
  function amounts(m) {
    const count = m.graph.nodes.op.length;
    const out = Object.fromEntries(kMeasures.map(({ key }) => [key, new Float64Array(count)]));
    for (const k of m.kernels) for (const key of ["us", "bytes", "flops"]) out[key][k.node] += k[key];
    m.graph.nodes.params.forEach((p, node) => {
      out.params[node] = p;
    });
    for (const [node, bytes] of m.memory.held) if (node >= 0) out.held[node] += bytes;
    return out;
  }

  // Modules as a tree of { name, scope, children, leaves: [{ node, value }] }.
  function tree(m, values) {
    const modules = new Map([[-1, { name: "model", scope: -1, value: 0, children: [] }]]);
    const { name, parent } = m.graph.scopes;
    name.forEach((text, scope) => {
      const module = { name: text, scope, value: 0, children: [] };
      modules.get(parent[scope]).children.push(module);
      modules.set(scope, module);
    });
    values.forEach((value, node) => {
      if (!(value > 0)) return;
      modules.get(m.graph.nodes.scope[node]).children.push({ node, value });
      for (let scope = m.graph.nodes.scope[node]; ; scope = parent[scope]) {
        modules.get(scope).value += value;
        if (scope < 0) break;
      }
    });
    return modules;
  }

  function draw(m) {
    const taken = amounts(m);
    let measure = kMeasures[0],
      at = -1,
      modules;

    function colours(values) {
      const by = new Map();
      values.forEach((v, node) => v > 0 && by.set(m.opOf(node), (by.get(m.opOf(node)) ?? 0) + v));
      const order = [...by].sort((a, b) => b[1] - a[1]);
      const fills = new Map(order.map(([op], i) => [op, Math.min(i, kColours)]));
      const total = d3.sum(order, (o) => o[1]) || 1;
      const rest = d3.sum(order.slice(kColours), (o) => o[1]);
      const entries = order.slice(0, kColours).map(([op, v]) => [op, fills.get(op), v]);
      if (rest > 0) entries.push([`${order.length - kColours} others`, kColours, rest]);
      byId("treemap-legend").replaceChildren(
        ...entries.map(([op, fill, v]) =>
          el(
            "span",
            { class: "tag" },
            el("span", { class: "swatch", style: `--fill: var(--c${fill})` }),
            `${op} ${format.percent(v / total)}`,
          ),
        ),
      );
      return fills;
    }

    function go(scope) {
      at = scope;
      paint();
    }

    // The way from the model to the module shown, as buttons.
    function path() {
      const parts = [];
      for (let s = at; ; s = m.graph.scopes.parent[s]) {
        parts.unshift(s);
        if (s < 0) break;
      }
      byId("treemap-path").replaceChildren(
        ...parts.flatMap((s, i) => {
          const name = modules.get(s).name,
            share = `${name} ${measure.write(modules.get(s).value)}`;
          const last = i === parts.length - 1;
          return [
            i ? "›" : "",
            last
              ? el("span", { "aria-current": "true" }, share)
              : el("button", { type: "button", onclick: () => go(s) }, name),
          ];
        }),
      );
    }

    // Children of the module shown: modules with their leaves flat in them. The smallest leaves beyond what can be seen
    // are one.
    function boxes() {
      const leavesOf = (module) => {
        const out = [],
          work = [module];
        while (work.length) {
          const next = work.pop();
          if (next.children) for (const child of next.children) work.push(child);
          else out.push(next);
        }
        out.sort((a, b) => b.value - a.value);
        const rest = out.splice(kMostLeaves);
        if (rest.length) out.push({ rest: rest.length, value: d3.sum(rest, (l) => l.value) });
        return out;
      };
      let root = modules.get(at);
      while (root.children.length === 1 && root.children[0].children) root = root.children[0];
      return {
        children: root.children
          .filter((c) => c.value > 0)
          .map((c) => (c.children ? { module: c, children: leavesOf(c), value: c.value } : c)),
      };
    }

    function paint() {
      const values = taken[measure.key];
      modules = tree(m, values);
      const total = modules.get(-1).value;
      path();
      const fills = colours(values);
      const host = byId("treemap-chart");
      if (!(total > 0)) {
        host.replaceChildren(el("p", { class: "note" }, `Nothing here takes ${measure.title.toLowerCase()}.`));
        return;
      }
      const f = charts.frame(
        host,
        420,
        { top: 0, right: 0, bottom: 0, left: 0 },
        `Treemap by module: ${measure.title}`,
      );
      const nodes = d3.layout
        .treemap()
        .size([f.width, f.height])
        .sort((a, b) => a.value - b.value)
        .padding((d) => (d.module ? [18, 2, 2, 2] : 0))
        .nodes(boxes());
      const share = (v) => format.percent(v / total);
      // Of the box under the pointer, or with the focus; one listener for all of them.
      const under = () => d3.event.target.__data__;
      const open = (d) => (d?.module ? go(d.module.scope) : d && !d.rest && m.pick(d.node));
      f.inner
        .on("mousemove", () => {
          const d = under();
          if (!d) return;
          const name = d.module?.name ?? (d.rest ? `${d.rest} smaller ones` : m.nameOf(d.node));
          const pairs = [
            [measure.title, measure.write(d.value)],
            ["share", share(d.value)],
          ];
          if (d.node >= 0) pairs.unshift(["operator", m.opOf(d.node)]);
          ui.tip.show(d3.event, name, pairs);
        })
        .on("mouseout", ui.tip.hide)
        .on("click", () => open(under()))
        .on("keydown", () => {
          if (d3.event.key !== "Enter" && d3.event.key !== " ") return;
          d3.event.preventDefault();
          open(under());
        });
      for (const d of nodes) {
        if (d.dx < 0.5 || d.dy < 0.5 || (!d.module && d.children)) continue;
        if (d.module) {
          f.inner
            .append("rect")
            .datum(d)
            .attr({ class: "module-head", x: d.x, y: d.y, width: d.dx, height: d.dy, tabindex: 0, role: "button" })
            .attr("aria-label", `${d.module.name}, ${measure.write(d.value)}`);
          f.inner.append("rect").attr({ class: "module", x: d.x, y: d.y, width: d.dx, height: d.dy });
          label(f.inner, d, `${d.module.name}  ${share(d.value)}`, "module-name", 6.6);
          continue;
        }
        const name = d.rest ? `${d.rest} smaller ones` : m.nameOf(d.node);
        const fill = d.rest ? kColours : fills.get(m.opOf(d.node));
        f.inner
          .append("rect")
          .datum(d)
          .attr({ class: "tile", x: d.x, y: d.y, width: d.dx, height: d.dy })
          .style("fill", `var(--c${fill})`);
        if (d.dy > 15) label(f.inner, d, d.rest ? name : m.opOf(d.node), `tile-text on-${fill}`, 6.1);
      }
    }

    // A text in a box, cut to it; none where four letters do not fit.
    function label(g, d, text, kind, letter) {
      const fits = Math.floor((d.dx - 8) / letter);
      if (fits < 4) return;
      g.append("text")
        .attr({ class: kind, x: d.x + 4, y: d.y + 13 })
        .text(text.length > fits ? `${text.slice(0, fits - 1)}…` : text);
    }

    charts.choice(byId("treemap-measure"), kMeasures, measure.key, (key) => {
      measure = kMeasures.find((k) => k.key === key);
      paint();
    });
    ui.drawn(paint);
  }

  return { draw };
})();
