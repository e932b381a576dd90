"use strict";
// The graphs of a comparison: either version of a model, coloured by what changed or by what it costs.

const diff = (() => {
  const { el, fill, format, byId } = ui;
  const kFills = { added: "added", removed: "removed", reshaped: "changed", altered: "changed", rewired: "rewired" };
  const kSides = [
    { key: "head", title: "Head" },
    { key: "base", title: "Base" },
  ];
  const kColours = [
    { key: "kind", title: "What changed" },
    { key: "step", title: "Δ device time" },
  ];
  const chosen = { model: 0, side: "head", colour: "kind", device: 0 };
  let view = null;

  const signed = (us) => (us === 0 ? "0" : `${us > 0 ? "+" : "−"}${format.us(Math.abs(us))}`);

  // What there is to say of each node of the version shown: the kind of its change, and its step in time.
  function changesOf(model) {
    const { nodes, base_us: baseUs, head_us: headUs } = model.rest;
    const own = chosen.side === "head" ? 2 : 1;
    const changes = new Map();
    for (const [kind, base, head] of nodes) {
      const before = base >= 0 ? baseUs[chosen.device][base] : 0;
      const after = head >= 0 ? headUs[chosen.device][head] : 0;
      const node = [kind, base, head][own];
      if (node >= 0) changes.set(node, { kind, step: after - before, before, after, other: own === 2 ? base : head });
    }
    return changes;
  }

  function draw() {
    const model = page.models[chosen.model];
    const graph = model[chosen.side];
    const { nodes } = graph;
    const times = model.rest[`${chosen.side}_us`][chosen.device];
    const changes = changesOf(model);
    const most = d3.max([...changes.values()], (c) => Math.abs(c.step)) || 1e-9;
    const nameOf = (node) => nodes.name[node] || graph.ops[nodes.op[node]];
    const fillOf = (node) => {
      const change = changes.get(node);
      if (!change) return ui.css("--cold");
      if (chosen.colour === "kind") return ui.css(`--${kFills[change.kind]}`);
      const end = ui.css(change.step > 0 ? "--slower" : "--faster");
      return d3.interpolateRgb(ui.css("--cold"), end)(Math.sqrt(Math.abs(change.step) / most));
    };
    let fills = new Map();
    ui.forget();
    ui.drawn(() => {
      fills = new Map(nodes.op.map((_, node) => [node, fillOf(node)]));
    });
    view = graphView.create(graph, {
      hot: [...changes.entries()].sort((a, b) => Math.abs(b[1].step) - Math.abs(a[1].step)).map(([node]) => node),
      name: nameOf,
      pick: (node) => view.show(node, true),
      fill: (node) => ({ fill: fills.get(node), ink: changes.has(node) ? "#14171a" : null }),
      label: (node) => [
        graph.ops[nodes.op[node]],
        changes.has(node) ? signed(changes.get(node).step) : times[node] > 0 ? format.us(times[node]) : "",
        nameOf(node),
      ],
      detail(node) {
        const change = changes.get(node);
        const out = [
          ["operator", graph.ops[nodes.op[node]]],
          ["result", graph.types[nodes.type[node]]],
        ];
        if (!change) return [...out, ["device time", format.us(times[node])], ["change", "none"]];
        out.push(
          ["change", change.kind],
          ["device time", `${format.us(change.before)} → ${format.us(change.after)}`],
        );
        out.push(["Δ", signed(change.step)]);
        if (change.other >= 0) {
          const other = model[chosen.side === "head" ? "base" : "head"];
          const type = other.types[other.nodes.type[change.other]];
          if (type !== graph.types[nodes.type[node]]) out.push([chosen.side === "head" ? "was" : "is", type]);
        }
        return out;
      },
    });
    legend(changes, most);
  }

  function legend(changes, most) {
    const swatch = (name, text) =>
      el("span", { class: "tag" }, el("span", { class: "swatch", style: `--fill: var(--${name})` }), text);
    const count = (kind) => [...changes.values()].filter((c) => c.kind === kind).length;
    const kinds = Object.keys(kFills).filter((kind) => count(kind) > 0);
    const entries =
      chosen.colour === "kind"
        ? kinds.map((kind) => swatch(kFills[kind], `${count(kind)} ${kind}`))
        : [swatch("faster", `faster, to ${signed(-most)}`), swatch("slower", `slower, to ${signed(most)}`)];
    fill("graph-legend", swatch("cold", "unchanged"), ...entries);
  }

  // A list to choose from; none where there is one entry only.
  function select(title, entries, key) {
    if (entries.length < 2) return null;
    const list = el("select", {}, ...entries.map((text, i) => el("option", { value: i }, text)));
    list.addEventListener("change", () => {
      chosen[key] = Number(list.value);
      draw();
    });
    return el("label", {}, `${title} `, list);
  }

  function choice(title, entries, key) {
    const host = el("span", { class: "choice", role: "radiogroup", "aria-label": title });
    charts.choice(host, entries, chosen[key], (value) => {
      chosen[key] = value;
      draw();
    });
    return host;
  }

  function start() {
    if (page.models.length > 0) {
      const several = page.models.map(({ rest }) => `${rest.model}, batch ${rest.batch}`);
      byId("graph-colour").textContent = "H steps through what changed, the largest steps first.";
      byId("graph-hot").textContent = "Next change";
      fill(
        "graph-choices",
        select("Model", several, "model"),
        select("Device", page.models[0].rest.devices, "device"),
        choice("Version", kSides, "side"),
        choice("Colour", kColours, "colour"),
      );
      draw();
    }
    ui.controls();
  }

  start();
  return { graph: () => view?.state() };
})();
