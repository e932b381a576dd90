"use strict";
// Parts that charts are put together from, with D3 (version 3).

const charts = (() => {
  // An empty SVG as wide as its host. `inner`: the group and the extent between the margins.
  function frame(host, height, margin, label) {
    host.replaceChildren();
    const width = Math.max(host.clientWidth, 220);
    const svg = d3
      .select(host)
      .append("svg")
      .attr({ width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
    svg.attr("aria-label", label);
    const inner = svg.append("g").attr("transform", `translate(${margin.left},${margin.top})`);
    return {
      svg,
      inner,
      width: width - margin.left - margin.right,
      height: height - margin.top - margin.bottom,
      margin,
    };
  }

  // Axes with grid lines; titles stand at their ends, units in them.
  function axes(f, x, y, { xTitle, yTitle, xFormat, yFormat, xValues, yValues }) {
    const bottom = d3.svg
      .axis()
      .scale(x)
      .orient("bottom")
      .tickSize(-f.height)
      .tickPadding(7)
      .tickFormat((v) => ui.format.short(xFormat(v)));
    const left = d3.svg
      .axis()
      .scale(y)
      .orient("left")
      .tickSize(-f.width)
      .tickPadding(7)
      .tickFormat((v) => ui.format.short(yFormat(v)));
    bottom.tickValues(xValues);
    left.tickValues(yValues);
    f.inner.append("g").attr("class", "axis").attr("transform", `translate(0,${f.height})`).call(bottom);
    f.inner.append("g").attr("class", "axis").call(left);
    f.inner
      .append("text")
      .attr({ x: f.width, y: f.height + 36, "text-anchor": "end" })
      .text(xTitle);
    f.inner
      .append("text")
      .attr({ x: -f.margin.left + 2, y: -9 })
      .text(yTitle);
  }

  // Powers of ten within a domain; where there are fewer than three, with 2 and 5 times them.
  function decades([low, high]) {
    const out = (steps) => {
      const values = [];
      for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); ++e)
        for (const step of steps)
          if (step * 10 ** e >= low * 0.999 && step * 10 ** e <= high * 1.001) values.push(step * 10 ** e);
      return values;
    };
    const tens = out([1]);
    return tens.length >= 3 ? tens : out([1, 2, 5]);
  }

  // Powers of two within a domain: of memory.
  function doublings([low, high]) {
    const values = [];
    for (let v = 2 ** Math.ceil(Math.log2(low)); v <= high; v *= 2) values.push(v);
    return values;
  }

  // Values on a scale from 0, at round numbers of the unit that `write` will choose (1,024 for bytes).
  function round(maximum, count, base = 1) {
    const step = maximum / base / count || 1;
    const power = 10 ** Math.floor(Math.log10(step));
    const nice = [1, 2, 5, 10].find((s) => s * power >= step) * power * base;
    const values = [];
    for (let v = 0; v <= maximum * 1.0001; v += nice) values.push(v);
    return values;
  }

  // A horizontal mark of a value in its interval on a logarithmic scale shared by rows: [value, low, high].
  function whisker(domain, [value, low, high], width = 150) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const x = d3.scale
      .log()
      .domain(domain)
      .range([5, width - 5])
      .clamp(true);
    d3.select(svg).attr({ width, height: 14, "aria-hidden": "true" });
    if (!(low > 0)) return svg; // no time, no place on the scale
    d3.select(svg)
      .append("line")
      .attr({ class: "whisker", x1: x(low), x2: x(high), y1: 7, y2: 7 });
    d3.select(svg)
      .append("circle")
      .attr({ cx: x(value), cy: 7, r: 4 })
      .style("fill", "var(--accent)");
    return svg;
  }

  // Buttons that hide and show what has their colour. `entries`: { key, title, fill }.
  function toggles(host, entries, changed) {
    const off = new Set();
    host.replaceChildren(
      ...entries.map(({ key, title, fill }) => {
        const swatch = ui.el("span", { class: "swatch", style: `--fill: ${fill}` });
        const button = ui.el("button", { type: "button", "aria-pressed": "true" }, swatch, title);
        button.addEventListener("click", () => {
          if (!off.delete(key)) off.add(key);
          button.setAttribute("aria-pressed", String(!off.has(key)));
          changed(off);
        });
        return button;
      }),
    );
    return off;
  }

  // One of several, as radio buttons are: arrow keys move, one stands in the order of tabs.
  function choice(host, entries, chosen, changed) {
    const buttons = entries.map(({ key, title }, at) =>
      ui.el(
        "button",
        {
          type: "button",
          role: "radio",
          "data-key": key,
          onclick: () => choose(at),
          onkeydown: (event) => {
            const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
            if (!step) return;
            event.preventDefault();
            const next = (at + step + entries.length) % entries.length;
            choose(next);
            buttons[next].focus();
          },
        },
        title,
      ),
    );
    function mark(at) {
      buttons.forEach((b, i) => {
        b.setAttribute("aria-checked", String(i === at));
        b.tabIndex = i === at ? 0 : -1;
      });
    }
    function choose(at) {
      mark(at);
      changed(entries[at].key);
    }
    host.replaceChildren(...buttons);
    mark(entries.findIndex((e) => e.key === chosen));
  }

  return { frame, axes, decades, doublings, round, whisker, toggles, choice };
})();
