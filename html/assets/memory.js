"use strict";
// Memory over the execution order of a run, and who holds it at its peak.

const memory = (() => {
  const { el, format, byId } = ui;

  function draw(m) {
    const c = m.memory,
      moments = c.most.length;
    if (!ui.section("memory", moments > 0)) return;
    const training = m.run.task === "train";
    const peak = c.most[c.peak],
      node = c.node[c.peak];
    const whose = node >= 0 ? `${m.opOf(node)} ${m.nameOf(node)}` : "the optimizer’s step";
    byId("memory-lead").textContent =
      `Bytes in use, as PyTorch’s allocator is simulated; most while ${whose} runs: ` +
      `${format.bytes(peak)}. The run needs ${format.mib(m.run.memory_mib[0])}, with the context and ` +
      "what the allocator keeps beside this.";

    ui.drawn(() => {
      const f = charts.frame(
        byId("memory-chart"),
        300,
        { top: 26, right: 16, bottom: 46, left: 70 },
        `Memory in use over ${moments} steps of execution, at most ${format.bytes(peak)}`,
      );
      const x = d3.scale.linear().domain([0, moments]).range([0, f.width]);
      const y = d3.scale
        .linear()
        .domain([0, peak * 1.12])
        .range([f.height, 0]);
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
      const area = d3.svg
        .area()
        .interpolate("step-after")
        .x((i) => x(i))
        .y0(f.height)
        .y1((i) => y(c.most[Math.min(i, moments - 1)]));
      f.inner
        .append("path")
        .attr("class", "area")
        .attr("d", area([...steps, moments]));
      f.inner
        .append("path")
        .attr("class", "line")
        .attr(
          "d",
          d3.svg
            .line()
            .interpolate("step-after")
            .x((i) => x(i))
            .y((i) => y(c.most[Math.min(i, moments - 1)]))([...steps, moments]),
        );
      f.inner.append("line").attr({ class: "base", x1: 0, x2: f.width, y1: y(c.before), y2: y(c.before) });
      f.inner
        .append("text")
        .attr({ x: f.width - 4, y: y(c.before) + 14, "text-anchor": "end" })
        .text(
          `${format.bytes(c.before)} before the run: weights${training ? ", optimizer’s state" : ""}, last results`,
        );
      c.phase.forEach((phase, i) => {
        if (i > 0 && phase !== c.phase[i - 1]) {
          f.inner.append("line").attr({ class: "base", x1: x(i), x2: x(i), y1: 0, y2: f.height });
          f.inner
            .append("text")
            .attr({ x: x(i) + 4, y: f.height - 6 })
            .text(c.phases[phase]);
        }
      });
      const left = x(c.peak) > f.width / 2;
      f.inner.append("circle").attr({ class: "dot mine", cx: x(c.peak + 0.5), cy: y(peak), r: 4 });
      f.inner
        .append("text")
        .attr({
          class: "strong",
          x: x(c.peak + 0.5) + (left ? -8 : 8),
          y: y(peak) - 6,
          "text-anchor": left ? "end" : "start",
        })
        .text(`peak ${format.bytes(peak)}`);
      const cursor = f.inner.append("line").attr({ class: "cursor", y1: 0, y2: f.height }).style("display", "none");
      f.inner
        .append("rect")
        .attr({ width: f.width, height: f.height })
        .style({ fill: "none", "pointer-events": "all" })
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
    tables.table(
      host.lastChild,
      held,
      [
        { title: "Bytes", numeric: true, descending: true, get: (h) => h.bytes, show: (h) => format.bytes(h.bytes) },
        {
          title: "Share",
          numeric: true,
          descending: true,
          get: (h) => h.bytes,
          show: (h) => format.percent(h.bytes / peak),
        },
        { title: "Operator", get: (h) => m.opOf(h.node), show: (h) => el("code", {}, m.opOf(h.node)) },
        { title: "Name", wide: true, get: (h) => m.nameOf(h.node), show: (h) => m.linkTo(h.node) },
        { title: "Type", get: (h) => m.typeOf(h.node), show: (h) => el("code", {}, m.typeOf(h.node)) },
      ],
      { what: "entries", sorted: [0, true], rows: 8, caption: "What is in memory at the peak" },
    );
  }

  return { draw };
})();
