"use strict";
// The charts of a report: each function draws one of a run into its section, and again when the width changes.
// `m` is the run's model (report.js): its kernels, nodes' names and modules, and what picks a node everywhere.

const panels = (() => {
  const { el, format, byId } = ui;
  const kBoundFill = { compute: "var(--compute)", memory: "var(--memory)", launch: "var(--launch)" };

  function kernelTip(event, m, k) {
    const seconds = k.us / 1e6;
    ui.tip.show(event, m.nameOf(k.node), [
      ["operator", m.opOf(k.node)],
      ["device time", `${format.us(k.us)}, ${format.percent(k.share)}`],
      ["work", format.flops(k.flops)],
      ["moved", format.bytes(k.bytes)],
      ["reached", `${format.rate(k.flops / seconds)}, ${format.bytes(k.bytes / seconds)}/s`],
      ["bound by", k.bound],
    ]);
  }

  // ---- Roofline
  function roofline(m) {
    const { units, bytes_per_s: bandwidth } = m.run.roofs;
    const timed = m.kernels.filter((k) => k.us > 0 && k.bytes > 0);
    const working = timed.filter((k) => k.flops > 0);
    const top = Math.max(...units.map((u) => u.flops));
    const intensity = working.map((k) => k.flops / k.bytes);
    // Kernels without arithmetic stand left of the others, as far below the roof as their bytes per second are.
    const low = Math.min(...intensity, bandwidth > 0 ? top / bandwidth / 100 : 1) / 4;
    const high = Math.max(...intensity, (4 * top) / bandwidth);
    const at = (k) => (k.flops > 0 ? k.flops / k.bytes : low * 1.4);
    const reached = (k) => (at(k) * k.bytes) / (k.us / 1e6);
    const floor = Math.min(...timed.map(reached), top) / 2;
    const idle = timed.length - working.length;
    const entries = Object.keys(kBoundFill).map((key) => ({
      key,
      fill: kBoundFill[key],
      title: `${key}: ${format.percent(m.run.bound_shares[page.bounds.indexOf(key)])} of device time`,
    }));
    const off = charts.toggles(byId("roofline-legend"), entries, () => draw());
    byId("roofline-note").textContent = idle === 0 ? "" :
      `${idle} operators that only move data stand at the left edge; their distance from the roof is their share of the bandwidth.`;

    function draw() {
      const f = charts.frame(byId("roofline-chart"), 430, { top: 26, right: 16, bottom: 46, left: 62 },
        `Roofline: ${timed.length} operators against the peaks of ${m.run.device_title}`);
      const x = d3.scale.log().domain([low, high]).range([0, f.width]);
      const y = d3.scale.log().domain([floor, top * 2.2]).range([f.height, 0]);
      charts.axes(f, x, y, {
        xTitle: "arithmetic intensity, FLOP per byte moved",
        yTitle: "reached, FLOP/s",
        xValues: charts.decades([low, high]),
        yValues: charts.decades([floor, top * 2.2]),
        xFormat: (v) => format.count(v).trim(),
        yFormat: (v) => format.count(v).replace("\u00a0", ""),
      });
      const clip = `roofline-clip`;
      f.svg.append("clipPath").attr("id", clip).append("rect")
        .attr({ x: f.margin.left, y: f.margin.top, width: f.width, height: f.height });
      const fastest = units.reduce((a, b) => (b.flops > a.flops ? b : a));
      for (const unit of units) {
        const ridge = unit.flops / bandwidth;
        const path = unit === fastest ? [[low, low * bandwidth], [ridge, unit.flops], [high, unit.flops]]
          : [[ridge, unit.flops], [high, unit.flops]];
        f.svg.append("path").attr("clip-path", `url(#${clip})`).attr("transform", null)
          .attr("class", unit === fastest ? "roof" : "roof other")
          .attr("d", `M${path.map(([i, r]) => `${x(i) + f.margin.left},${y(r) + f.margin.top}`).join("L")}`);
        f.inner.append("text").attr({ x: f.width - 4, y: y(unit.flops) - 5, "text-anchor": "end" })
          .text(`${unit.unit}, ${format.rate(unit.flops)}`);
      }
      const middle = Math.sqrt(Math.max(low, floor / bandwidth) * (top / bandwidth));
      const slope = (Math.atan2(y(2 * bandwidth) - y(bandwidth), x(2) - x(1)) * 180) / Math.PI;
      f.inner.append("text").attr("text-anchor", "middle")
        .attr("transform", `translate(${x(middle)},${y(middle * bandwidth)}) rotate(${slope}) translate(0,-7)`)
        .text(`memory, ${format.bytes(bandwidth)}/s`);
      const most = Math.max(...timed.map((k) => k.us));
      const points = timed.filter((k) => !off.has(k.bound)).sort((a, b) => b.us - a.us);
      f.inner.selectAll("circle").data(points).enter().append("circle").attr("class", "kernel")
        .attr({ cx: (k) => x(at(k)), cy: (k) => y(reached(k)), r: (k) => 2.2 + 8 * Math.sqrt(k.us / most) })
        .style("fill", (k) => kBoundFill[k.bound])
        .classed("picked", (k) => k.node === m.picked)
        .on("mousemove", (k) => kernelTip(d3.event, m, k))
        .on("mouseleave", ui.tip.hide)
        .on("click", (k) => m.pick(k.node));
    }
    ui.drawn(draw);
    m.onPick(() => d3.select("#roofline-chart").selectAll("circle").classed("picked", (k) => k.node === m.picked));
  }

  // ---- Memory over the execution order
  function memory(m) {
    const c = m.memory, moments = c.most.length;
    const section = byId("memory");
    section.hidden = moments === 0;
    if (moments === 0) return;
    const peak = c.most[c.peak], node = c.node[c.peak];
    const whose = node >= 0 ? `${m.opOf(node)} ${m.nameOf(node)}` : "the optimizer’s step";
    byId("memory-lead").textContent = `Bytes in use, as PyTorch’s allocator is simulated; most while ${whose} runs: ` +
      `${format.bytes(peak)}. The run needs ${format.mib(m.run.memory_mib[0])}, with the context and what the allocator ` +
      "keeps beside this.";

    ui.drawn(() => {
      const f = charts.frame(byId("memory-chart"), 300, { top: 26, right: 16, bottom: 46, left: 70 },
        `Memory in use over ${moments} steps of execution, at most ${format.bytes(peak)}`);
      const x = d3.scale.linear().domain([0, moments]).range([0, f.width]);
      const y = d3.scale.linear().domain([0, peak * 1.12]).range([f.height, 0]);
      const unit = peak >= 2 ** 30 ? 2 ** 30 : peak >= 2 ** 20 ? 2 ** 20 : 2 ** 10;
      charts.axes(f, x, y, {
        xTitle: "operators in execution order",
        yTitle: "in use",
        xValues: charts.round(moments, 8).filter((v) => v === Math.round(v)),
        yValues: charts.round(peak * 1.12, 5, unit),
        xFormat: (v) => v.toLocaleString("en"),
        yFormat: format.bytes,
      });
      const steps = d3.range(moments);
      const area = d3.svg.area().interpolate("step-after").x((i) => x(i)).y0(f.height).y1((i) => y(c.most[Math.min(i, moments - 1)]));
      f.inner.append("path").attr("class", "area").attr("d", area([...steps, moments]));
      f.inner.append("path").attr("class", "line").attr("d",
        d3.svg.line().interpolate("step-after").x((i) => x(i)).y((i) => y(c.most[Math.min(i, moments - 1)]))([...steps, moments]));
      f.inner.append("line").attr({ class: "base", x1: 0, x2: f.width, y1: y(c.before), y2: y(c.before) });
      f.inner.append("text").attr({ x: f.width - 4, y: y(c.before) + 14, "text-anchor": "end" })
        .text(`${format.bytes(c.before)} before the run: weights${m.run.task === "train" ? ", optimizer’s state" : ""}, last results`);
      c.phase.forEach((phase, i) => {
        if (i > 0 && phase !== c.phase[i - 1]) {
          f.inner.append("line").attr({ class: "base", x1: x(i), x2: x(i), y1: 0, y2: f.height });
          f.inner.append("text").attr({ x: x(i) + 4, y: f.height - 6 }).text(c.phases[phase]);
        }
      });
      const left = x(c.peak) > f.width / 2;
      f.inner.append("circle").attr({ class: "dot mine", cx: x(c.peak + 0.5), cy: y(peak), r: 4 });
      f.inner.append("text").attr({ class: "strong", x: x(c.peak + 0.5) + (left ? -8 : 8), y: y(peak) - 6, "text-anchor": left ? "end" : "start" })
        .text(`peak ${format.bytes(peak)}`);
      const cursor = f.inner.append("line").attr({ class: "cursor", y1: 0, y2: f.height }).style("display", "none");
      f.inner.append("rect").attr({ width: f.width, height: f.height }).style({ fill: "none", "pointer-events": "all" })
        .on("mousemove", function () {
          const i = Math.max(0, Math.min(moments - 1, Math.floor(x.invert(d3.mouse(this)[0]))));
          cursor.style("display", null).attr({ x1: x(i + 0.5), x2: x(i + 0.5) });
          ui.tip.show(d3.event, c.node[i] >= 0 ? m.nameOf(c.node[i]) : "optimizer’s step", [
            ["operator", c.node[i] >= 0 ? m.opOf(c.node[i]) : "–"],
            ["step", `${i + 1} of ${moments}, ${c.phases[c.phase[i]]}`],
            ["in use while it runs", format.bytes(c.most[i])],
            ["… and after it", format.bytes(c.after[i])],
          ]);
        })
        .on("mouseleave", () => {
          cursor.style("display", "none");
          ui.tip.hide();
        })
        .on("click", function () {
          const i = Math.floor(x.invert(d3.mouse(this)[0]));
          if (c.node[i] >= 0) m.pick(c.node[i]);
        });
    });

    const held = c.held.map(([id, bytes]) => ({ node: id, bytes }));
    const host = byId("memory-held");
    host.replaceChildren(el("h3", {}, "Held at the peak"), el("div"));
    tables.table(host.lastChild, held, [
      { title: "Bytes", numeric: true, descending: true, get: (h) => h.bytes, show: (h) => format.bytes(h.bytes) },
      { title: "Share", numeric: true, descending: true, get: (h) => h.bytes, show: (h) => format.percent(h.bytes / peak) },
      { title: "Operator", get: (h) => m.opOf(h.node), show: (h) => el("code", {}, m.opOf(h.node)) },
      { title: "Name", wide: true, get: (h) => m.nameOf(h.node), show: (h) => m.linkTo(h.node) },
      { title: "Type", get: (h) => m.typeOf(h.node), show: (h) => el("code", {}, m.typeOf(h.node)) },
    ], { what: "holders", sorted: [0, true], rows: 8, caption: "What is in memory at the peak" });
  }

  // ---- Figures against batch, each chart with its bands
  function batches(m) {
    const points = m.run.batches;
    byId("batches").hidden = points.length < 2;
    if (points.length < 2) return;
    const throughput = (p) => p.latency_ms.map((ms) => (p.batch / ms) * 1e3);
    const shown = [
      { title: "Latency", write: format.ms, of: (p) => p.latency_ms, log: true },
      { title: "Samples per second", write: format.perSecond, of: (p) => { const [v, lo, hi] = throughput(p); return [v, hi, lo]; }, log: true },
      { title: "Memory", write: format.mib, of: (p) => p.memory_mib, log: true, limit: m.run.device_memory_mib },
    ];
    const host = byId("batches-charts");
    host.replaceChildren();
    for (const s of shown) {
      const plot = el("div");
      host.append(el("figure", {}, el("figcaption", {}, s.title), plot));
      ui.drawn(() => drawFigure(plot, points, s, m));
    }
  }

  function drawFigure(plot, points, s, m) {
    const f = charts.frame(plot, 250, { top: 14, right: 12, bottom: 44, left: 66 }, `${s.title} against batch`);
    const values = points.map(s.of);
    let low = Math.min(...values.map((v) => v[1])), high = Math.max(...values.map((v) => v[2]));
    if (s.limit && s.limit < 4 * high) high = Math.max(high, s.limit);
    const x = d3.scale.log().base(2).domain([points[0].batch, points[points.length - 1].batch]).range([8, f.width - 8]);
    const y = d3.scale.log().domain([low / 1.1, high * 1.15]).range([f.height, 0]);
    charts.axes(f, x, y, {
      xTitle: "batch",
      yTitle: "",
      xValues: points.map((p) => p.batch),
      yValues: charts.decades(y.domain()),
      xFormat: (v) => v.toLocaleString("en"),
      yFormat: s.write,
    });
    const at = (i) => x(points[i].batch), all = d3.range(points.length);
    f.inner.append("path").attr("class", "band").attr("d", d3.svg.area().x(at).y0((i) => y(values[i][1])).y1((i) => y(values[i][2]))(all));
    f.inner.append("path").attr("class", "line").attr("d", d3.svg.line().x(at).y((i) => y(values[i][0]))(all));
    if (s.limit && s.limit <= high) {
      f.inner.append("line").attr({ class: "limit", x1: 0, x2: f.width, y1: y(s.limit), y2: y(s.limit) });
      f.inner.append("text").attr({ x: 4, y: y(s.limit) - 5 }).text(`the device has ${format.mib(s.limit)}`);
    }
    f.inner.selectAll("circle").data(all).enter().append("circle")
      .attr({ cx: at, cy: (i) => y(values[i][0]), r: (i) => (points[i].batch === m.run.batch ? 5.5 : 4) })
      .attr("class", (i) => `dot${points[i].batch === m.run.batch ? " mine" : ""}${points[i].fits ? "" : " no"}`)
      .on("mousemove", (i) => ui.tip.show(d3.event, `batch ${points[i].batch}`, [
        [s.title.toLowerCase(), s.write(values[i][0])],
        ["90 %", ui.range(s.write, values[i][1], values[i][2])],
        ["bound by", points[i].bound],
        ["memory", points[i].fits ? "fits" : "out of memory"],
      ]))
      .on("mouseleave", ui.tip.hide);
  }

  // ---- Tables of devices and of MIG profiles
  function fitsTag(fits, needs, has) {
    return fits ? `${format.mib(needs)} of ${format.mib(has)}` : el("span", { class: "tag no" }, `✗ ${format.mib(needs)} of ${format.mib(has)}`);
  }

  function devices(m) {
    const all = m.run.devices;
    byId("devices").hidden = all.length === 0;
    const low = Math.min(...all.map((d) => d.latency_ms[1])), high = Math.max(...all.map((d) => d.latency_ms[2]));
    byId("devices-lead").textContent = `The same run at batch ${m.run.batch} on every device that perfc knows, each with its own host. ` +
      "Marks are predictions, lines their 90 % intervals, all on one logarithmic scale.";
    tables.table(byId("devices-table"), all, [
      { title: "Device", get: (d) => d.title, show: (d) => d.title },
      { title: "Name", get: (d) => d.device, show: (d) => el("code", {}, d.device) },
      { title: "Latency", numeric: true, get: (d) => d.latency_ms[0], show: (d) => format.ms(d.latency_ms[0]) },
      { title: "90 % interval", get: (d) => d.latency_ms[2], show: (d) => charts.whisker([low, high], d.latency_ms) },
      { title: "Samples/s", numeric: true, descending: true, get: (d) => d.batch / d.latency_ms[0], show: (d) => format.count((d.batch / d.latency_ms[0]) * 1e3) },
      { title: "Memory", numeric: true, get: (d) => d.memory_mib[0], show: (d) => fitsTag(d.fits, d.memory_mib[0], d.device_memory_mib) },
      { title: "Energy", numeric: true, get: (d) => d.energy_j, show: (d) => format.joule(d.energy_j) },
      { title: "Bound by", get: (d) => d.bound, show: (d) => d.bound },
    ], {
      what: "devices", sorted: [2, false], rows: 12, search: (d) => [d.title, d.device], hint: "l4, H100, RTX …",
      rowClass: (d) => (d.device === m.run.device ? "mine" : ""), caption: "Devices side by side",
    });
  }

  function mig(m) {
    const decision = m.run.mig;
    byId("mig").hidden = byId("mig-link").hidden = !decision;
    if (!decision) return;
    byId("mig-lead").textContent = decision.profile ? `${decision.profile}: ${decision.why}.` : `No profile: ${decision.why}.`;
    tables.table(byId("mig-table"), decision.profiles, [
      { title: "Profile", get: (p) => p.profile, show: (p) => el("code", {}, p.profile) },
      { title: "Latency", numeric: true, get: (p) => p.latency_ms, show: (p) => format.ms(p.latency_ms) },
      { title: "Slices", numeric: true, descending: true, get: (p) => p.instances, show: (p) => String(p.instances) },
      { title: "Samples/s, all slices", numeric: true, descending: true, get: (p) => p.throughput_per_s, show: (p) => format.count(p.throughput_per_s) },
      { title: "SMs", numeric: true, get: (p) => p.sms, show: (p) => String(p.sms) },
      { title: "Memory", numeric: true, get: (p) => p.needs_mib, show: (p) => fitsTag(p.fits, p.needs_mib, p.has_mib) },
      { title: "Energy per batch", numeric: true, get: (p) => p.energy_j, show: (p) => format.joule(p.energy_j) },
      { title: "Refused because", wide: true, get: (p) => p.why, show: (p) => p.why || "–" },
    ], { what: "profiles", sorted: [4, false], caption: "MIG profiles", rowClass: (p) => (p.profile === decision.profile ? "mine" : "") });
  }

  return { roofline, memory, batches, devices, mig, kBoundFill, kernelTip };
})();
