"use strict";
// Series of one run: a curve over sizes for all that differ in nothing else, in place of a dot for each.

const LABEL = 62; // pixels from one size below a curve to the next

// Groups of such series, in the order of the first of each; a group of one size is a number without a curve.
Gasmeter.bySize = function (found) {
  const { site } = Gasmeter, size = site.fields.indexOf("size_bytes"), groups = new Map();
  for (const series of found) {
    const key = JSON.stringify([series.first, series.label, ...series.is.filter((_, i) => i !== size)]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(series);
  }
  for (const group of groups.values()) group.sort((a, b) => a.size_bytes - b.size_bytes);
  return [...groups.values()];
};

// Sizes as powers of two below the curve, as many as fit; no payload stands one step left of the smallest.
Gasmeter.sizeAxis = function (sizes, width) {
  const least = Math.min(...sizes.filter((size) => size > 0)), last = sizes[sizes.length - 1];
  const place = (size) => (size > 0 ? Math.log2(size) : Math.log2(least) - 1);
  const apart = (a, b) => ((place(b) - place(a)) * width) / Math.max(1, place(last) - place(sizes[0]));
  const kept = [sizes[0]];
  for (const size of sizes.slice(1, -1)) if (apart(kept[kept.length - 1], size) >= LABEL && apart(size, last) >= LABEL) kept.push(size);
  if (sizes.length > 1) kept.push(last);
  return { place, ticks: kept.map((size) => [place(size), size ? Gasmeter.quantity(size, "B") : "none"]) };
};

Gasmeter.sizeCurve = function (group, width, height, name = "") {
  const first = group[0], { svg } = Gasmeter, many = group.length * 9 <= width;
  const ys = group.map((series) => series.newest ?? NaN);
  const [low, high] = [0, 1].map((end) => group.map((series) => series.interval?.[end] ?? NaN));
  const every = [...ys, ...low, ...high].filter(Number.isFinite);
  if (!every.length) return Gasmeter.element("p", { class: "small" }, "no value that verified");
  const log = Math.min(...every) > 0 && Math.max(...every) / Math.min(...every) > 8;
  const { place, ticks } = Gasmeter.sizeAxis(group.map((series) => Number(series.size_bytes)), width - 82);
  const xs = group.map((series) => place(Number(series.size_bytes)));
  const y = log ? Gasmeter.span(every.map(Math.log10)) : Gasmeter.span(every);
  const frame = Gasmeter.frame({ width, height, x: [xs[0], xs[xs.length - 1]], y, log, unit: first.unit_name, name, right: 24, xTicks: ticks });
  const curve = svg("g", { class: first.kind });
  curve.append(svg("path", { class: "curve", d: Gasmeter.path(xs, ys, frame.across, frame.up) }));
  xs.forEach((x, i) => {
    if (high[i] > low[i]) Gasmeter.whisker(curve, frame.across(x), frame.up(high[i]), frame.up(low[i]), many ? 3 : 0);
    if (many && Number.isFinite(ys[i])) curve.append(svg("circle", { class: group[i].shared ? "hollow" : "dot", cx: frame.across(x), cy: frame.up(ys[i]), r: 2.2 }));
  });
  frame.root.append(curve);
  frame.root.setAttribute("aria-label", `${first.metric} of ${first.name} over ${group.length} sizes, one run`);
  return frame.root;
};

Gasmeter.sizeSpan = (group) => `${Gasmeter.bytes(group[0].size_bytes)} to ${Gasmeter.bytes(group[group.length - 1].size_bytes)}`;

Gasmeter.sizeCard = function (group) {
  const { element, site } = Gasmeter, first = group[0];
  const plot = element("div", { class: "plot", style: "min-height:122px" });
  plot.draw = (width) => Gasmeter.sizeCurve(group, width, 118);
  const known = group.filter((series) => Number.isFinite(series.newest ?? NaN));
  const ends = known.length ? `${Gasmeter.quantity(known[0].newest, first.unit_name)} to ${Gasmeter.quantity(known[known.length - 1].newest, first.unit_name)}` : "no value";
  const failed = group.filter((series) => series.unverified).length;
  return element(
    "a", { class: "card", href: `#/sizes/${first.id}` },
    element("div", { class: "head" }, element("span", {}, `${Gasmeter.sizeSpan(group)}: ${first.name}`), Gasmeter.badge(first)),
    element("div", { class: "what small" }, Gasmeter.what(first)), plot,
    element("p", { class: "says" }, element("span", {}, `${first.metric} ${ends}`), element("span", { class: "small" }, `one run, ${Gasmeter.date(site.runs.started[first.first])}`)),
    failed ? element("p", { class: "says worse" }, `${failed} of ${group.length} sizes did not verify`) : null,
  );
};

// The page of a curve: large, and every size with its interval.
Gasmeter.sizePage = function (id) {
  const { element, site } = Gasmeter, page = document.getElementById("page");
  const group = Gasmeter.bySize(site.series.filter((series) => series.count === 1)).find((one) => one[0].id === id);
  if (!group) return Gasmeter.overview();
  const first = group[0], exact = first.kind === "modelled";
  const value = `${first.metric} (${first.kind})`, table = Gasmeter.table(["size", value, "95 % interval"], [value, "95 % interval"]);
  for (const series of group) table.add([element("a", { href: `#/series/${series.id}` }, Gasmeter.bytes(series.size_bytes))],
    Gasmeter.quantity(series.newest, series.unit_name, exact), Gasmeter.intervalText(series) || "none");
  const plot = element("div", {});
  page.replaceChildren(
    element("p", { class: "bar" }, element("a", { href: "#/" }, "← all series")),
    element("h2", {}, `${Gasmeter.sizeSpan(group)}: ${first.name}, ${first.metric} `, Gasmeter.badge(first)),
    element("p", { class: "small" }, Gasmeter.what(first)),
    element("p", { class: "small" }, [first.semantics, exact ? "virtual time, exact" : "medians of blocks, with their 95 % intervals"].filter(Boolean).join("; "), " · ", element("a", { href: `#/run/${first.first}` }, `run of ${Gasmeter.date(site.runs.started[first.first])}`)),
    plot, table.box,
  );
  window.scrollTo(0, 0);
  const width = Math.max(280, page.clientWidth);
  plot.append(Gasmeter.sizeCurve(group, width, width < 500 ? 250 : 320, value));
};
