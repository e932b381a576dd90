"use strict";
// A table that is sorted by buttons in its head and searched. Rows are put into the page by the hundred, so that
// thousands cost nothing until somebody wants to see them.

const tables = (() => {
  const kStep = 100;

  // `columns`: { title, get (what is sorted by), show (text or node), numeric, wide, descending (its first order) }.
  // `options`: search (texts of a row that are searched; none: no search), what ("kernels"), rows (shown at first),
  // sorted ([column, descending]), rowClass, caption, always (rows listed however far down they
  // stand), picked (row → whether it is marked).
  function table(host, rows, columns, options) {
    let [by, descending] = options.sorted;
    let wanted = "",
      limit = options.rows ?? kStep,
      shown = [];
    const what = options.what;

    const heads = columns.map((c, at) =>
      ui.el(
        "th",
        { scope: "col", class: c.numeric ? "num" : null },
        ui.el("button", { type: "button", onclick: () => sort(at) }, c.title),
      ),
    );
    const body = ui.el("tbody");
    const status = ui.el("span", { role: "status" });
    const more = ui.el("button", { type: "button", class: "more-rows", onclick: () => show(limit + 5 * kStep) });
    const bar = ui.el("div", { class: "bar" });
    if (options.search) {
      const input = ui.el("input", { type: "search", autocomplete: "off", placeholder: options.hint });
      input.addEventListener("input", () => {
        wanted = input.value.trim().toLowerCase();
        limit = options.rows ?? kStep;
        update();
      });
      bar.append(ui.el("label", {}, "Search ", input));
    }
    bar.append(status);
    const caption = ui.el("caption", { hidden: true }, options.caption);
    const element = ui.el("table", {}, caption, ui.el("thead", {}, ui.el("tr", {}, ...heads)), body);
    host.replaceChildren(
      bar,
      ui.el("div", { class: "table-wrap", tabindex: "0", role: "region", "aria-label": options.caption }, element),
      more,
    );

    const texts = options.search ? rows.map((r) => options.search(r).join("\u0000").toLowerCase()) : [];

    function sort(at) {
      descending = at === by ? !descending : Boolean(columns[at].descending);
      by = at;
      update();
    }

    function compare(a, b) {
      const x = columns[by].get(a),
        y = columns[by].get(b);
      const order = typeof x === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
      return descending ? -order : order;
    }

    function update() {
      heads.forEach((th, at) => {
        if (at === by) th.setAttribute("aria-sort", descending ? "descending" : "ascending");
        else th.removeAttribute("aria-sort");
      });
      const words = wanted.split(/\s+/).filter(Boolean);
      shown = rows.filter((_, i) => words.every((w) => texts[i].includes(w)));
      shown.sort(compare);
      show(limit);
    }

    function show(count) {
      limit = count;
      const beyond = options.always ? shown.slice(limit).filter(options.always) : [];
      body.replaceChildren(...[...shown.slice(0, limit), ...beyond].map(rowOf));
      const listed = Math.min(limit, shown.length);
      status.textContent = wanted
        ? `${shown.length} of ${rows.length} ${what} match${listed < shown.length ? `, ${listed} listed` : ""}`
        : listed < rows.length
          ? `${listed} of ${rows.length} ${what} listed`
          : `${rows.length} ${what}`;
      more.hidden = shown.length <= limit;
      more.textContent = `Show ${Math.min(5 * kStep, shown.length - listed)} more`;
    }

    function rowOf(row) {
      const cells = columns.map((c) =>
        ui.el("td", { class: c.numeric ? "num" : c.wide ? "wide" : null }, c.show(row)),
      );
      const tr = ui.el("tr", { class: options.rowClass?.(row) || null }, ...cells);
      if (options.picked?.(row)) tr.classList.add("picked");
      return tr;
    }

    update();
    return { update, show: () => show(limit) };
  }

  return { table };
})();
