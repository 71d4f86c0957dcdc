"use strict";
// The first page: a headline, filters, series with steps, then a small multiple for every history and every curve over
// sizes; measured, modelled and published ones stand apart.

Gasmeter.KINDS = {
  measured: ["Measured", "wall clock on the machine that each card names"],
  modelled: ["Modelled", "exact virtual time: the same on every machine, so that any difference is a change of the model or the code"],
  mixed: ["Mixed", "something measured on the machine that each card names over something modelled, or the reverse"],
  published: ["Published", "somebody's paper; nothing of it was run here"],
};
const AT_ONCE = 60;
const FILTERS = [["kernel", "kernel"], ["op", "operation"], ["conduit", "conduit"], ["size_bytes", "size"], ["where", "machine"], ["metric", "metric"], ["kind", "kind"], ["experiment", "experiment"]];

// Take the index; data/index.js calls this function.
Gasmeter.index = function (content) {
  Gasmeter.site = content;
  for (const series of content.series) {
    content.fields.forEach((field, i) => { if (field !== "unit") series[field] = content.words[series.is[i]]; });
    series.unit_name = content.words[series.is[content.fields.indexOf("unit")]];
    if (series.metric === "speedup") series.unit_name = "x"; // a factor, no share
    series.where = [series.host, series.machine].filter(Boolean).join(", ") || "the network's own";
    series.name = [...new Set([series.kernel, series.op, series.variant])].filter(Boolean).join(" ");
    series.title = series.size_bytes > 0 ? `${Gasmeter.bytes(series.size_bytes)}: ${series.name}` : series.name;
    series.on = [
      series.conduit, series.machine && series.machine !== series.network ? `on ${series.machine}` : "", series.topology,
    ].filter(Boolean).join(" ");
    const steps = series.steps.length;
    series.moved = steps ? Gasmeter.change(series.levels[steps - 1], series.levels[steps], series.better, series.unit_name) : null;
  }
  document.title = `${content.title}: histories`;
  document.getElementById("title").textContent = content.title;
  const runs = content.runs.started.length;
  document.getElementById("about").textContent =
    `${content.series.length} series in ${runs} ${runs === 1 ? "run" : "runs"}, ${Gasmeter.date(content.runs.started[0])} to ${Gasmeter.date(content.runs.started[runs - 1])}; written ${Gasmeter.date(content.written)} by gasmeter ${content.version}`;
  Gasmeter.filter = { text: "", steps: false, sort: "name" };
  Gasmeter.theme();
  window.addEventListener("hashchange", Gasmeter.show);
  let wide = window.innerWidth;
  window.addEventListener("resize", () => { if (window.innerWidth !== wide) { wide = window.innerWidth; Gasmeter.show(); } });
  Gasmeter.show();
};

Gasmeter.theme = function () {
  const button = document.getElementById("theme"), order = ["system", "light", "dark"];
  const store = { get: () => { try { return localStorage.getItem("gasmeter-theme"); } catch { return null; } }, set: (value) => { try { localStorage.setItem("gasmeter-theme", value); } catch { /* a page from disk may keep nothing */ } } };
  const apply = (name) => {
    if (name === "system") delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = name;
    button.textContent = `theme: ${name}`;
  };
  const asked = new URLSearchParams(location.search).get("theme");
  let now = order.includes(asked) ? asked : order.includes(store.get()) ? store.get() : "system";
  apply(now);
  button.addEventListener("click", () => { now = order[(order.indexOf(now) + 1) % 3]; store.set(now); apply(now); });
};

// The page that the address asks for: #/ or #/series/ID or #/series/ID/run/N or #/sizes/ID or #/run/N.
Gasmeter.show = function () {
  const [, what, id, , run] = location.hash.split("/");
  const found = what === "series" ? Gasmeter.site.series.find((series) => series.id === id) : null;
  if (found) Gasmeter.detail(found, run === undefined ? null : Number(run));
  else if (what === "sizes") Gasmeter.sizePage(id);
  else if (what === "run" && Gasmeter.site.runs.started[id] !== undefined) Gasmeter.runPage(Number(id));
  else Gasmeter.overview();
};

Gasmeter.matches = function (series, but = "") {
  const { filter } = Gasmeter;
  for (const [field] of FILTERS) if (field !== but && filter[field] && series[field] !== filter[field]) return false;
  if (filter.steps && !series.steps.length) return false;
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const all = Gasmeter.site.fields.map((field) => (field === "unit" ? "" : series[field])).join(" ").toLowerCase();
  return words.every((word) => all.includes(word));
};

Gasmeter.overview = function () {
  const { element, site, filter } = Gasmeter;
  const page = document.getElementById("page");
  const open = page.querySelector("details.filters")?.open ?? false;
  const fields = element("div", { class: "fields" });
  const list = element("div");
  const redraw = () => Gasmeter.cards(list);
  for (const [field, name] of FILTERS) {
    const values = [...new Set(site.series.map((series) => series[field]))];
    if (values.length < 2) continue;
    values.sort(field === "size_bytes" ? (a, b) => a - b : undefined);
    const select = element("select", { onchange: (event) => { filter[field] = event.target.value; redraw(); } }, element("option", { value: "" }, "all"));
    for (const value of values) if (value) select.append(element("option", { value, selected: filter[field] === value }, field === "size_bytes" ? Gasmeter.bytes(value) : value));
    fields.append(element("label", {}, name, select));
  }
  const sort = element("select", { onchange: (event) => { filter.sort = event.target.value; redraw(); } });
  for (const [value, words] of [["name", "name"], ["worst", "worst last step first"], ["recent", "newest step first"]]) sort.append(element("option", { value, selected: filter.sort === value }, words));
  fields.append(
    element("label", {}, "order", sort),
    element("label", {}, "words", element("input", { type: "search", value: filter.text, placeholder: "e.g. put smp", oninput: (event) => { filter.text = event.target.value; redraw(); } })),
    element("label", { class: "check" }, element("input", { type: "checkbox", checked: filter.steps, onchange: (event) => { filter.steps = event.target.checked; redraw(); } }), " only series with steps"),
  );
  page.replaceChildren(
    element("p", { class: "headline" }, site.headline), Gasmeter.runList(),
    element("details", { class: "filters", open }, element("summary", {}, "Filter and order"), fields),
    list,
    element("p", { class: "small" }, "Each point is the median of one run's blocks, uprights are 95 % intervals; each axis spans its own series and does not begin at zero. Dashed uprights with a triangle: the level changed (measured: confirmed step; modelled: any difference). Equal distances in a history are runs, not days. A curve over sizes is of one run; where its values span much, its axis is logarithmic."),
  );
  if (site.notes.length) {
    const notes = element("ul", { class: "small" });
    for (const text of site.notes.slice(0, 50)) notes.append(element("li", {}, text));
    page.append(element("details", {}, element("summary", {}, `${site.notes.length} remarks made while reading`), notes));
  }
  redraw();
};

Gasmeter.cards = function (list) {
  const { element, site, filter } = Gasmeter;
  const found = site.series.filter((series) => Gasmeter.matches(series));
  const badness = (series) => {
    if (!series.moved) return -Infinity;
    const size = Math.abs(parseFloat(series.moved.text)) || 0;
    return series.moved.kind === "worse" ? size : -size;
  };
  if (filter.sort === "worst") found.sort((a, b) => badness(b) - badness(a));
  if (filter.sort === "recent") found.sort((a, b) => (b.steps[b.steps.length - 1] ?? -1) - (a.steps[a.steps.length - 1] ?? -1));
  list.replaceChildren();
  // The first cards are made at once, the others a few at a time behind the first picture.
  const turn = (list.turn = {}), waiting = [];
  let room = AT_ONCE;
  const grid = (items, make) => {
    const box = element("div", { class: "cards" }, ...items.slice(0, room).map(make));
    if (items.length > room) waiting.push([box, items.slice(room), make]);
    room = Math.max(0, room - items.length);
    return box;
  };
  if (!found.length) list.append(element("p", { class: "note" }, "No series fits; choose “all” in a filter."));
  const stepped = found.filter((series) => series.steps.length);
  if (filter.sort === "name") stepped.sort((a, b) => b.steps[b.steps.length - 1] - a.steps[a.steps.length - 1]);
  if (stepped.length) list.append(element("h2", {}, `Steps (${stepped.length} series)`), grid(stepped, Gasmeter.card));
  const kinds = [...new Set([...Object.keys(Gasmeter.KINDS), ...found.map((series) => series.kind)])];
  for (const kind of kinds) {
    const members = found.filter((series) => series.kind === kind && !series.steps.length);
    if (!members.length) continue;
    const [name, means] = Gasmeter.KINDS[kind] || [kind, "as its rows say"];
    list.append(element("h2", {}, element("span", { class: kind }, name), ` (${members.length} series)`), element("p", { class: "small" }, means));
    const histories = members.filter((series) => series.count > 1), groups = Gasmeter.bySize(members.filter((series) => series.count === 1));
    if (histories.length) list.append(element("h3", {}, "Histories without a step"), grid(histories, Gasmeter.card));
    const curves = groups.filter((group) => group.length > 1), alone = groups.filter((group) => group.length === 1);
    if (curves.length) list.append(element("h3", {}, "Run once, by size"), grid(curves, Gasmeter.sizeCard));
    if (alone.length) list.append(element("h3", {}, "Run once"), grid(alone, ([series]) => Gasmeter.card(series)));
  }
  const width = list.querySelector(".card .plot")?.clientWidth || 300;
  const draw = (plot) => plot.replaceChildren(plot.draw(width));
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) {
      watch.unobserve(entry.target);
      draw(entry.target);
    }
  }, { rootMargin: "600px" });
  // Draw the visible plots at once: an observer is told after the first picture.
  const plots = [...list.querySelectorAll(".plot")], below = plots.findIndex((plot) => plot.getBoundingClientRect().top >= window.innerHeight);
  const seen = below < 0 ? plots : plots.slice(0, below);
  seen.forEach(draw);
  for (const plot of plots.slice(seen.length)) watch.observe(plot);
  const more = () => {
    if (list.turn !== turn || !waiting.length) return; // filtered anew, or all there
    const [box, items, make] = waiting[0], cards = items.splice(0, AT_ONCE).map(make);
    if (!items.length) waiting.shift();
    box.append(...cards);
    for (const card of cards) for (const plot of card.querySelectorAll(".plot")) watch.observe(plot);
    setTimeout(more);
  };
  setTimeout(more);
};

Gasmeter.badge = (series) => Gasmeter.element("span", { class: `tag ${series.kind}` }, series.label && series.label !== series.kind ? `${series.kind}, ${series.label}` : series.kind);

Gasmeter.what = function (series) {
  const several = series.ranks === "1" ? "1 rank" : `${series.ranks} ranks`;
  return [
    series.on, several, series.options, series.reference ? `against ${series.reference}` : "",
    series.placement && series.placement !== "fill" ? series.placement : "", series.seed > 1 ? `seed ${series.seed}` : "",
    series.repetition !== "0" ? `repetition ${series.repetition}` : "", series.host,
  ].filter(Boolean).join(" · ");
};

// The 95 % interval of the newest value, in words; nothing where there is none or numbers are exact.
Gasmeter.intervalText = function (series) {
  const [low, high] = series.interval ?? [null, null];
  if (!Number.isFinite(low ?? NaN) || !Number.isFinite(high ?? NaN) || !(high > low)) return "";
  return `${Gasmeter.quantity(low, series.unit_name)} to ${Gasmeter.quantity(high, series.unit_name)}`;
};

Gasmeter.card = function (series) {
  const { element, site } = Gasmeter, alone = series.count === 1, interval = Gasmeter.intervalText(series);
  const plot = alone ? null : element("div", { class: "plot", style: "min-height:122px" });
  if (plot) plot.draw = (width) => Gasmeter.spark(series, site.runs, width);
  const says = element("p", { class: "says" }, element("span", {}, `${series.metric} ${Gasmeter.quantity(series.newest, series.unit_name)}`));
  if (series.moved) {
    const at = series.steps[series.steps.length - 1];
    says.append(element("span", {}, Gasmeter.changed(series, ...series.levels.slice(-2)), ` ${Gasmeter.date(site.runs.started[at])}`));
  } else says.append(element("span", { class: "small" }, alone ? `one run, ${Gasmeter.date(site.runs.started[series.first])}` : `no step in ${series.count} runs`));
  const warning = series.unverified ? element("p", { class: "says worse" }, `${series.unverified} of ${series.count} runs did not verify`) : null;
  return element(
    "a", { class: "card", href: `#/series/${series.id}` },
    element("div", { class: "head" }, element("span", {}, series.title), Gasmeter.badge(series)),
    element("div", { class: "what small" }, Gasmeter.what(series)), plot, says,
    interval ? element("p", { class: "small interval" }, `95 % interval ${interval}`) : null, warning,
  );
};
