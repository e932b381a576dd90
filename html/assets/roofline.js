"use strict";
// The roofline of a run (Williams, Waterman and Patterson, CACM 2009): every kernel is a point.
// `m` is the run's model (report.js): its kernels, nodes' names and modules, and what picks a node everywhere.

const roofline = (() => {
  const { format, byId } = ui;
  const kBoundFill = { compute: "var(--compute)", memory: "var(--memory)", launch: "var(--launch)" };

  function kernelTip(event, m, k) {
    const seconds = k.us / 1e6;
    ui.tip.show(event, m.nameOf(k.node), [
      ["operator", m.opOf(k.node)],
      ["device time", `${format.us(k.us)}, ${format.percent(k.share)}`],
      ["work", format.flops(k.flops)],
      ["moved", format.bytes(k.bytes)],
      ["reached", `${format.rate(k.flops / seconds)}, ${format.bandwidth(k.bytes / seconds)}`],
      ["bound by", k.bound],
    ]);
  }

  function draw(m) {
    const { units, bytes_per_s: bandwidth } = m.run.roofs;
    const timed = m.kernels.filter((k) => k.us > 0 && k.bytes > 0);
    const working = timed.filter((k) => k.flops > 0);
    if (!ui.section("roofline", timed.length > 0)) return;
    const top = d3.max(units, (u) => u.flops);
    const intensity = working.map((k) => k.flops / k.bytes);
    // Kernels without arithmetic stand left of the others, as far below the roof as their bytes per second are.
    const low = Math.min(d3.min(intensity) ?? Infinity, top / bandwidth / 100) / 4;
    const high = Math.max(1.5 * (d3.max(intensity) ?? 0), (4 * top) / bandwidth);
    const at = (k) => (k.flops > 0 ? k.flops / k.bytes : low * 1.4);
    const reached = (k) => (at(k) * k.bytes) / (k.us / 1e6);
    const floor = Math.min(d3.min(timed, reached), top) / 2;
    const idle = timed.length - working.length;
    const entries = Object.keys(kBoundFill).map((key) => ({
      key,
      fill: kBoundFill[key],
      title: `${key}: ${format.percent(m.run.bound_shares[page.bounds.indexOf(key)])} of device time`,
    }));
    const off = charts.toggles(byId("roofline-legend"), entries, () => paint());
    byId("roofline-note").textContent =
      idle === 0
        ? ""
        : `${idle} kernels that only move data stand at the left edge; their distance from the roof is their share ` +
          "of the bandwidth.";

    // Beside the chart, each at its roof, or below the one before where that is too near.
    function label(f, y) {
      let lowest = -Infinity;
      for (const unit of [...units].sort((a, b) => b.flops - a.flops)) {
        const at = Math.max(y(unit.flops), lowest + 32);
        lowest = at;
        const text = f.inner.append("text").attr({ x: f.width + 8, y: at - 2 });
        text.append("tspan").text(unit.unit);
        text
          .append("tspan")
          .attr({ x: f.width + 8, dy: 14 })
          .text(format.rate(unit.flops));
      }
    }

    function paint() {
      const wide = byId("roofline-chart").clientWidth > 640;
      const f = charts.frame(
        byId("roofline-chart"),
        430,
        { top: 26, right: wide ? 132 : 16, bottom: 46, left: 62 },
        `Roofline: ${timed.length} kernels against the peaks of ${m.run.device_title}`,
      );
      const x = d3.scale.log().domain([low, high]).range([0, f.width]);
      const y = d3.scale
        .log()
        .domain([floor, top * 2.2])
        .range([f.height, 0]);
      charts.axes(f, x, y, {
        xTitle: "arithmetic intensity, FLOP per byte moved",
        yTitle: "reached, FLOP/s",
        xValues: charts.decades([low, high]),
        yValues: charts.decades([floor, top * 2.2]),
        xFormat: format.count,
        yFormat: format.count,
      });
      const clip = "roofline-clip";
      f.svg
        .append("clipPath")
        .attr("id", clip)
        .append("rect")
        .attr({ x: f.margin.left, y: f.margin.top, width: f.width, height: f.height });
      const fastest = units.reduce((a, b) => (b.flops > a.flops ? b : a));
      for (const unit of units) {
        const ridge = unit.flops / bandwidth;
        const path =
          unit === fastest
            ? [
                [low, low * bandwidth],
                [ridge, unit.flops],
                [high, unit.flops],
              ]
            : [
                [ridge, unit.flops],
                [high, unit.flops],
              ];
        f.svg
          .append("path")
          .attr("clip-path", `url(#${clip})`)
          .attr("class", unit === fastest ? "roof" : "roof other")
          .attr("d", `M${path.map(([i, r]) => `${x(i) + f.margin.left},${y(r) + f.margin.top}`).join("L")}`);
      }
      const middle = Math.sqrt(Math.max(low, floor / bandwidth) * (top / bandwidth));
      const slope = (Math.atan2(y(2 * bandwidth) - y(bandwidth), x(2) - x(1)) * 180) / Math.PI;
      if (wide)
        f.inner
          .append("text")
          .attr("text-anchor", "middle")
          .attr("transform", `translate(${x(middle)},${y(middle * bandwidth)}) rotate(${slope}) translate(0,-7)`)
          .text(`memory, ${format.bandwidth(bandwidth)}`);
      const most = d3.max(timed, (k) => k.us);
      const points = timed.filter((k) => !off.has(k.bound)).sort((a, b) => b.us - a.us);
      f.inner
        .append("g")
        .on("mousemove", () => kernelTip(d3.event, m, d3.event.target.__data__))
        .on("mouseout", ui.tip.hide)
        .on("click", () => m.pick(d3.event.target.__data__.node))
        .selectAll("circle")
        .data(points)
        .enter()
        .append("circle")
        .attr("class", "kernel")
        .attr({ cx: (k) => x(at(k)), cy: (k) => y(reached(k)), r: (k) => 2.2 + 8 * Math.sqrt(k.us / most) })
        .style("fill", (k) => kBoundFill[k.bound])
        .classed("picked", (k) => k.node === m.picked);
      if (wide) label(f, y);
    }
    ui.drawn(paint);
    m.onPick(() =>
      d3
        .select("#roofline-chart")
        .selectAll("circle")
        .classed("picked", (k) => k.node === m.picked),
    );
  }

  return { draw, kBoundFill };
})();
