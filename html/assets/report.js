"use strict";
// Puts a report together: one prediction at a time, chosen where the file has several.

const report = (() => {
  const { el, fill, format, byId } = ui;

  // A run with what its nodes are, and what picks a node in every panel.
  function modelOf(run) {
    const { graph, memory } = page.graphs[run.graph];
    const { nodes } = graph,
      watching = [];
    const total = d3.sum(run.kernels.us) || 1;
    const m = {
      run,
      graph,
      memory,
      picked: -1,
      kernels: run.kernels.node.map((node, i) => ({
        node,
        us: run.kernels.us[i],
        share: run.kernels.us[i] / total,
        flops: run.kernels.flops[i],
        bytes: run.kernels.bytes[i],
        bound: page.bounds[run.kernels.bound[i]],
        order: i + 1,
      })),
      opOf: (node) => (node < 0 ? "optimizer" : graph.ops[nodes.op[node]]),
      nameOf: (node) =>
        node < 0 ? "gradients, state and temporaries" : nodes.name[node] || graph.ops[nodes.op[node]],
      typeOf: (node) => (node < 0 ? "" : graph.types[nodes.type[node]]),
      onPick: (act) => watching.push(act),
      pick(node) {
        m.picked = node;
        watching.forEach((act) => act(node));
      },
      linkTo: (node) =>
        node < 0 || nodes.y[node] < 0
          ? m.nameOf(node)
          : el(
              "button",
              {
                type: "button",
                class: "link",
                title: "Show in the graph",
                onclick: () => {
                  m.pick(node);
                  byId("graph").scrollIntoView();
                },
              },
              m.nameOf(node),
            ),
    };
    m.costOf = costs(m.kernels);
    return m;
  }

  // What each node's kernels take together; what bounds the longest of them bounds it.
  function costs(kernels) {
    const out = new Map();
    for (const k of kernels) {
      const sum = out.get(k.node);
      if (!sum) out.set(k.node, { ...k, longest: k.us });
      else {
        if (k.us > sum.longest) Object.assign(sum, { bound: k.bound, longest: k.us });
        for (const key of ["us", "share", "flops", "bytes"]) sum[key] += k[key];
      }
    }
    return out;
  }

  function card(title, value, ...more) {
    return el(
      "div",
      { class: "card" },
      el("dt", {}, title),
      el("dd", { class: "value" }, value),
      ...more.filter(Boolean).map((text) => el("dd", { class: "more" }, text)),
    );
  }

  function verdict(m) {
    const r = m.run;
    const [latency, low, high] = r.latency_ms,
      [memory, memoryLow, memoryHigh] = r.memory_mib,
      [energy, energyLow, energyHigh] = r.energy_j;
    byId("fits").className = `fits ${r.fits ? "good" : "bad"}`;
    byId("fits").textContent = r.fits
      ? `Fits: ${format.mib(memory)} of the ${format.mib(r.device_memory_mib)} of ${r.device}`
      : `Out of memory: ${r.memory_verdict}`;
    const interval = (write, lo, hi) => `90 %: ${ui.range(write, lo, hi)}`;
    const share = r.bound_shares,
      bounds = page.bounds.map((b, i) => `${format.percent(share[i])} ${b}`).join(", ");
    const bound =
      r.bound === "host" ? `the device waits ${format.percent(r.waiting)} of the time` : `kernels by ${bounds}`;
    fill(
      "cards",
      card(
        "Latency",
        format.ms(latency),
        interval(format.ms, low, high),
        `device ${format.ms(r.device_ms)}, host ${format.ms(r.host_ms)}`,
      ),
      card(
        "Throughput",
        format.perSecond(r.throughput_per_s),
        interval(format.perSecond, (r.batch / high) * 1e3, (r.batch / low) * 1e3),
        "samples",
      ),
      card(
        "Bound by",
        r.bound,
        bound,
        `${r.host_calls} ${r.dispatches} of ${format.us(r.host_us_per_call)}, ${r.host}`,
      ),
      card(
        "Memory",
        format.mib(memory),
        interval(format.mib, memoryLow, memoryHigh),
        r.memory_parts_mib.map(([part, mib]) => `${part} ${format.mib(mib)}`).join(" + "),
      ),
      card(
        "Energy",
        format.joule(energy),
        interval(format.joule, energyLow, energyHigh),
        `${format.joule(r.energy_j_per_sample)} per sample, ${format.digits(r.power_w)} W`,
      ),
      r.mig ? card("MIG slice", r.mig.profile ?? "none", r.mig.why) : null,
      card(
        "Model",
        `${format.count(r.params)} params`,
        `${format.macs(r.macs)}, ${r.operators.toLocaleString("en")} operators`,
      ),
    );
    const helps = [];
    const faster = (ms) => `${format.digits(latency / ms)} ×`;
    if (r.alternatives.length)
      helps.push(
        small(
          "What helps",
          ["Option", "Latency", "Samples/s", "Gain"],
          r.alternatives.map((a) => [
            el("code", {}, a.options),
            format.ms(a.latency_ms),
            format.count(a.throughput_per_s),
            `${format.digits(a.throughput_per_s / r.throughput_per_s)} ×`,
          ]),
        ),
      );
    if (r.hosts.length)
      helps.push(
        small(
          "On hosts of a known age (--host)",
          ["Host", "Latency", "Speed"],
          r.hosts.map((o) => [el("code", {}, o.name), format.ms(o.latency_ms), faster(o.latency_ms)]),
        ),
      );
    if (r.runtimes.length)
      helps.push(
        small(
          "On other runtimes",
          ["Runtime", "Precision", "Latency", "Speed"],
          r.runtimes.map((o) => [o.title, o.dtype, format.ms(o.latency_ms), faster(o.latency_ms)]),
        ),
      );
    fill("helps", ...helps);
  }

  // A small table that needs no sorting: texts left, figures right.
  function small(title, heads, rows) {
    const numeric = (i) => (i > 1 || heads[i] === "Latency" ? "num" : null);
    return el(
      "div",
      {},
      el("h3", {}, title),
      el(
        "table",
        {},
        el("thead", {}, el("tr", {}, ...heads.map((h, i) => el("th", { scope: "col", class: numeric(i) }, h)))),
        el(
          "tbody",
          {},
          ...rows.map((row) => el("tr", {}, ...row.map((cell, i) => el("td", { class: numeric(i) }, cell)))),
        ),
      ),
    );
  }

  function kernels(m) {
    const rate = (k) => (k.us > 0 ? k.flops / (k.us / 1e6) : 0),
      speed = (k) => (k.us > 0 ? k.bytes / (k.us / 1e6) : 0);
    const number = (title, get, show, descending = true) => ({
      title,
      numeric: true,
      descending,
      get,
      show: (k) => show(get(k)),
    });
    const boundTag = (k) =>
      el(
        "span",
        { class: "tag" },
        el("span", { class: "swatch", style: `--fill: ${roofline.kBoundFill[k.bound]}` }),
        k.bound,
      );
    const table = tables.table(
      byId("kernels-table"),
      m.kernels,
      [
        number("#", (k) => k.order, String, false),
        { title: "Operator", get: (k) => m.opOf(k.node), show: (k) => el("code", {}, m.opOf(k.node)) },
        { title: "Name", wide: true, get: (k) => m.nameOf(k.node), show: (k) => m.linkTo(k.node) },
        number("Time", (k) => k.us, format.us),
        number("Share", (k) => k.share, format.percent),
        { title: "Bound by", get: (k) => k.bound, show: boundTag },
        number(
          "FLOP",
          (k) => k.flops,
          (f) => format.count(f),
        ),
        number("Moved", (k) => k.bytes, format.bytes),
        number("FLOP/s", rate, (f) => format.count(f)),
        number("Bytes/s", speed, (b) => format.count(b)),
        { title: "Result", get: (k) => m.typeOf(k.node), show: (k) => el("code", {}, m.typeOf(k.node)) },
      ],
      {
        what: "kernels",
        sorted: [3, true],
        hint: "name, operator, bound",
        caption: "Kernels",
        search: (k) => [m.nameOf(k.node), m.opOf(k.node), k.bound, m.typeOf(k.node)],
        picked: (k) => k.node === m.picked,
      },
    );
    m.onPick(table.show);
  }

  function graph(m) {
    const most = d3.max([...m.costOf.values()], (c) => c.share) || 1e-9;
    const heat = () => d3.interpolateRgb(ui.css("--cold"), ui.css("--hot"));
    let ramp = heat();
    ui.drawn(() => {
      ramp = heat();
    });
    // Square root: what takes a hundredth of the hottest is seen as a tenth.
    const warmth = (node) => Math.sqrt((m.costOf.get(node)?.share ?? 0) / most);
    const hot = [...m.costOf.values()]
      .sort((a, b) => b.us - a.us)
      .slice(0, 20)
      .map((k) => k.node);
    const view = graphView.create(m.graph, {
      hot,
      name: m.nameOf,
      pick: m.pick,
      fill: (node) => ({ fill: ramp(warmth(node)), ink: warmth(node) > 0.75 ? "#14171a" : null }),
      label: (node) => [m.opOf(node), m.costOf.has(node) ? format.us(m.costOf.get(node).us) : "", m.nameOf(node)],
      detail(node) {
        const k = m.costOf.get(node);
        const out = [
          ["operator", m.opOf(node)],
          ["result", m.typeOf(node)],
        ];
        if (k)
          out.push(
            ["device time", `${format.us(k.us)}, ${format.percent(k.share)}`],
            ["bound by", k.bound],
            ["work", format.flops(k.flops)],
            ["moved", format.bytes(k.bytes)],
          );
        if (m.graph.nodes.params[node] > 0) out.push(["parameters", format.count(m.graph.nodes.params[node])]);
        return out;
      },
    });
    m.onPick((node) => view.show(node, true));
    fill(
      "graph-legend",
      el("span", {}, "no device time"),
      el("span", { class: "ramp" }),
      el("span", {}, `${format.percent(most)} of it`),
      el("span", {}, `${view.state().nodes.toLocaleString("en")} inputs and operators; weights are not drawn`),
    );
    return view;
  }

  function notes(m) {
    const r = m.run,
      parts = [];
    const list = (title, texts) =>
      texts.length &&
      parts.push(el("h3", {}, title), el("ul", { class: "notes" }, ...texts.map((t) => el("li", {}, t))));
    list("Unfamiliar", r.novelty);
    list("Warnings", r.warnings);
    list(
      "Dims that data decides",
      r.dynamic.map((d) => `${d.op} ${d.name}: ${d.extents.join(", ")} by ${d.by}`),
    );
    if (r.dynamic_not_covered) list("Not in the interval", [r.dynamic_not_covered]);
    list("How it was predicted", [
      `predictor ${r.predictor}${r.method ? `: ${r.method}` : ""}`,
      `host ${r.host} (${r.framework}), software stack ${r.stack}`,
    ]);
    fill("notes-list", ...parts);
  }

  let view = null;
  function show(index) {
    const run = page.runs[index],
      m = modelOf(run);
    ui.forget();
    byId("model-name").textContent = run.model;
    byId("setting").textContent = [
      `batch ${run.batch}`,
      run.device_title,
      run.runtime,
      `${run.dtype}${run.layout ? ` ${run.layout}` : ""}`,
      (run.task === "infer" ? "inference" : run.task) + (run.pacing ? `, runs ${run.pacing}` : ""),
      `predictor ${run.predictor}`,
    ].join(" · ");
    verdict(m);
    roofline.draw(m);
    treemap.draw(m);
    memory.draw(m);
    elsewhere.batches(m);
    elsewhere.devices(m);
    elsewhere.mig(m);
    kernels(m);
    view = graph(m);
    notes(m);
  }

  function start() {
    const picker = byId("run");
    const several = new Set(page.runs.map((r) => r.model)).size > 1;
    page.runs.forEach((r, i) =>
      picker.append(
        el(
          "option",
          { value: i },
          `${several ? `${r.model}, ` : ""}${r.device}, batch ${r.batch}: ` +
            (r.fits ? format.ms(r.latency_ms[0]) : "out of memory"),
        ),
      ),
    );
    byId("run-picker").hidden = page.runs.length < 2;
    picker.addEventListener("change", () => show(Number(picker.value)));
    ui.controls();
    show(0);
  }

  start();
  return { graph: () => view.state() };
})();
