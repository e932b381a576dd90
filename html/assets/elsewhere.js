"use strict";
// The same run elsewhere: at other batches, on other devices, on slices of its device.

const elsewhere = (() => {
  const { el, format, byId } = ui;

  // ---- Figures against batch, each chart with its bands
  function batches(m) {
    const points = m.run.batches;
    if (!ui.section("batches", points.length > 1 && points.every((p) => p.latency_ms[1] > 0))) return;
    const throughput = (p) => p.latency_ms.map((ms) => (p.batch / ms) * 1e3);
    const shown = [
      { title: "Latency", write: format.ms, of: (p) => p.latency_ms, ticks: charts.decades },
      {
        title: "Samples per second",
        write: format.perSecond,
        of: (p) => {
          const [v, lo, hi] = throughput(p);
          return [v, hi, lo];
        },
        ticks: charts.decades,
      },
      {
        title: "Memory",
        write: format.mib,
        of: (p) => p.memory_mib,
        ticks: charts.doublings,
        limit: m.run.device_memory_mib,
      },
    ];
    const host = byId("batches-charts");
    const plots = shown.map(() => el("div"));
    host.replaceChildren(...shown.map((s, i) => el("figure", {}, el("figcaption", {}, s.title), plots[i])));
    shown.forEach((s, i) => ui.drawn(() => drawFigure(plots[i], points, s, m)));
  }

  function drawFigure(plot, points, s, m) {
    const f = charts.frame(plot, 250, { top: 14, right: 12, bottom: 44, left: 66 }, `${s.title} against batch`);
    const values = points.map(s.of);
    const low = d3.min(values, (v) => v[1]);
    let high = d3.max(values, (v) => v[2]);
    if (s.limit && s.limit < 4 * high) high = Math.max(high, s.limit);
    const x = d3.scale
      .log()
      .base(2)
      .domain([points[0].batch, points[points.length - 1].batch])
      .range([8, f.width - 8]);
    const y = d3.scale
      .log()
      .domain([low / 1.1, high * 1.15])
      .range([f.height, 0]);
    charts.axes(f, x, y, {
      xTitle: "batch",
      yTitle: "",
      xValues: points.map((p) => p.batch),
      yValues: s.ticks(y.domain()),
      xFormat: (v) => v.toLocaleString("en"),
      yFormat: s.write,
    });
    const at = (i) => x(points[i].batch),
      all = d3.range(points.length);
    f.inner
      .append("path")
      .attr("class", "band")
      .attr(
        "d",
        d3.svg
          .area()
          .x(at)
          .y0((i) => y(values[i][1]))
          .y1((i) => y(values[i][2]))(all),
      );
    f.inner
      .append("path")
      .attr("class", "line")
      .attr(
        "d",
        d3.svg
          .line()
          .x(at)
          .y((i) => y(values[i][0]))(all),
      );
    if (s.limit && s.limit <= high) {
      f.inner.append("line").attr({ class: "limit", x1: 0, x2: f.width, y1: y(s.limit), y2: y(s.limit) });
      f.inner
        .append("text")
        .attr({ x: 4, y: y(s.limit) - 5 })
        .text(`the device has ${format.mib(s.limit)}`);
    }
    f.inner
      .selectAll("circle")
      .data(all)
      .enter()
      .append("circle")
      .attr({ cx: at, cy: (i) => y(values[i][0]), r: (i) => (points[i].batch === m.run.batch ? 5.5 : 4) })
      .attr("class", (i) => `dot${points[i].batch === m.run.batch ? " mine" : ""}${points[i].fits ? "" : " no"}`)
      .on("mousemove", (i) =>
        ui.tip.show(d3.event, `batch ${points[i].batch}`, [
          [s.title.toLowerCase(), s.write(values[i][0])],
          ["90 %", ui.range(s.write, values[i][1], values[i][2])],
          ["bound by", points[i].bound],
          ["memory", points[i].fits ? "fits" : "out of memory"],
        ]),
      )
      .on("mouseleave", ui.tip.hide);
  }

  // ---- Tables of devices and of MIG profiles
  function fitsTag(fits, needs, has) {
    return fits
      ? `${format.mib(needs)} of ${format.mib(has)}`
      : el("span", { class: "tag no" }, `✗ ${format.mib(needs)} of ${format.mib(has)}`);
  }

  function devices(m) {
    const all = m.run.devices;
    if (!ui.section("devices", all.length > 0)) return;
    const timed = all.filter((d) => d.latency_ms[1] > 0);
    const domain = timed.length
      ? [d3.min(timed, (d) => d.latency_ms[1]), d3.max(timed, (d) => d.latency_ms[2])]
      : [1, 10];
    byId("devices-lead").textContent =
      `The same run at batch ${m.run.batch} on every device that perfc knows, ` +
      `${m.run.host_given ? `all with the host ${m.run.host}` : "each with its own host"}. ` +
      "Marks are predictions, lines their 90 % intervals, all on one logarithmic scale.";
    tables.table(
      byId("devices-table"),
      all,
      [
        { title: "Device", get: (d) => d.title, show: (d) => d.title },
        { title: "Name", get: (d) => d.device, show: (d) => el("code", {}, d.device) },
        { title: "Latency", numeric: true, get: (d) => d.latency_ms[0], show: (d) => format.ms(d.latency_ms[0]) },
        {
          title: "90 % interval",
          get: (d) => d.latency_ms[2],
          show: (d) => charts.whisker(domain, d.latency_ms),
        },
        {
          title: "Samples/s",
          numeric: true,
          descending: true,
          get: (d) => d.batch / d.latency_ms[0],
          show: (d) => format.count((d.batch / d.latency_ms[0]) * 1e3),
        },
        {
          title: "Memory",
          numeric: true,
          get: (d) => d.memory_mib[0],
          show: (d) => fitsTag(d.fits, d.memory_mib[0], d.device_memory_mib),
        },
        { title: "Energy", numeric: true, get: (d) => d.energy_j, show: (d) => format.joule(d.energy_j) },
        { title: "Bound by", get: (d) => d.bound, show: (d) => d.bound },
      ],
      {
        what: "devices",
        sorted: [2, false],
        rows: 12,
        always: (d) => d.device === m.run.device,
        search: (d) => [d.title, d.device],
        hint: "l4, H100, RTX …",
        rowClass: (d) => (d.device === m.run.device ? "mine" : ""),
        caption: "Devices side by side",
      },
    );
  }

  function mig(m) {
    const decision = m.run.mig;
    if (!ui.section("mig", decision !== null)) return;
    byId("mig-lead").textContent = decision.profile
      ? `${decision.profile}: ${decision.why}.`
      : `No profile: ${decision.why}.`;
    tables.table(
      byId("mig-table"),
      decision.profiles,
      [
        { title: "Profile", get: (p) => p.profile, show: (p) => el("code", {}, p.profile) },
        { title: "Latency", numeric: true, get: (p) => p.latency_ms, show: (p) => format.ms(p.latency_ms) },
        {
          title: "Slices",
          numeric: true,
          descending: true,
          get: (p) => p.instances,
          show: (p) => String(p.instances),
        },
        {
          title: "Samples/s, all slices",
          numeric: true,
          descending: true,
          get: (p) => p.throughput_per_s,
          show: (p) => format.count(p.throughput_per_s),
        },
        { title: "SMs", numeric: true, get: (p) => p.sms, show: (p) => String(p.sms) },
        {
          title: "Memory",
          numeric: true,
          get: (p) => p.needs_mib,
          show: (p) => fitsTag(p.fits, p.needs_mib, p.has_mib),
        },
        { title: "Energy per batch", numeric: true, get: (p) => p.energy_j, show: (p) => format.joule(p.energy_j) },
        { title: "Refused because", wide: true, get: (p) => p.why, show: (p) => p.why || "–" },
      ],
      {
        what: "profiles",
        sorted: [4, false],
        caption: "MIG profiles",
        rowClass: (p) => (p.profile === decision.profile ? "mine" : ""),
      },
    );
  }

  return { batches, devices, mig };
})();
