"use strict";
// The page of one series: its history with intervals, its steps, the state of the host, and one run with its blocks.

const FLAGS = { verified: 1, shared: 2, noValue: 4, noInterval: 8, noSpread: 16, noState: 32, unchecked: 64 };

// Unpack the file of a series; what a run does not have is NaN.
Gasmeter.columns = function (packed) {
  const { count, unit } = packed;
  const at = Gasmeter.unpack(packed.at, count), flags = Gasmeter.unpack(packed.flags, count);
  const take = (name, scale, flag) => Gasmeter.unpack(packed[name], count, scale).map((value, i) => (flags[i] & flag ? NaN : value));
  const value = take("value", unit, FLAGS.noValue);
  const off = (name, sign, flag) => take(name, unit, flag).map((by, i) => value[i] + sign * by);
  return {
    at, flags, value,
    low: off("low", -1, FLAGS.noInterval), high: off("high", 1, FLAGS.noInterval),
    min: off("min", -1, FLAGS.noSpread), p99: off("p99", 1, FLAGS.noSpread),
    n: take("n", 1, 0), state: take("state", 0.1, FLAGS.noState), samples: packed.samples, counters: packed.counters ?? {}, unit,
  };
};

Gasmeter.detail = async function (series, run) {
  const { element } = Gasmeter;
  const page = document.getElementById("page");
  if (Gasmeter.open?.series !== series || !page.contains(Gasmeter.open.body)) {
    const body = element("div", {}, element("p", {}, "Reading the series …"));
    Gasmeter.open = { series, body, last: 0 };
    page.replaceChildren(
      element("p", { class: "bar" }, element("a", { href: "#/" }, "← all series")),
      element("h2", {}, `${series.title}, ${series.metric} `, Gasmeter.badge(series)),
      element("p", { class: "small" }, Gasmeter.what(series)),
      element("p", { class: "small" }, [series.semantics, series.kind === "modelled" ? "virtual time, exact" : "median of blocks, with its 95 % interval"].filter(Boolean).join("; ")),
      body,
    );
    window.scrollTo(0, 0);
  }
  const { body } = Gasmeter.open;
  try {
    Gasmeter.open.columns ??= Gasmeter.columns(await Gasmeter.load(`data/series/${series.id}.js`, series.id));
    Gasmeter.open.runs ??= await Gasmeter.load("data/runs.js", "runs");
  } catch (error) {
    body.replaceChildren(element("p", { class: "note" }, error.message));
    return;
  }
  if (Gasmeter.open.series !== series) return; // somebody was quicker
  const { columns } = Gasmeter.open;
  let picked = columns.at.indexOf(run);
  if (picked < 0) picked = columns.at.length - 1;
  Gasmeter.draw(body, series, columns, picked);
};

Gasmeter.draw = function (body, series, columns, picked) {
  const { element, open } = Gasmeter;
  const spans = [["all", 0], ["last 200", 200], ["last 50", 50]].filter(([, count]) => !count || count < columns.at.length);
  const buttons = element("div", { class: "bar" });
  if (spans.length > 1) for (const [name, count] of spans) buttons.append(element("button", { type: "button", "aria-pressed": String(open.last === count), onclick: () => { open.last = count; Gasmeter.draw(body, series, columns, picked); } }, name));
  const width = Math.max(280, body.clientWidth || document.getElementById("page").clientWidth);
  const go = (to) => { if (to >= 0 && to < columns.at.length) location.replace(`#/series/${series.id}/run/${columns.at[to]}`); };
  body.replaceChildren(
    buttons,
    Gasmeter.history(series, columns, picked, width, go) ?? element("p", { class: "note" }, "No run of this series verified."),
    Gasmeter.hostStrip(series, columns, picked, width) ?? "",
    element("div", { class: "two" }, Gasmeter.stepTable(series), Gasmeter.runPanel(series, columns, picked, go, width)),
  );
};

// First shown position, and the span of runs from it to the end.
Gasmeter.shown = function (columns) {
  const from = Gasmeter.open.last ? Math.max(0, columns.at.length - Gasmeter.open.last) : 0;
  const first = columns.at[from], last = columns.at[columns.at.length - 1];
  return { from, x: last > first ? [first, last] : [first - 1, last + 1], first, last };
};

Gasmeter.history = function (series, columns, picked, width, go) {
  const { svg, site } = Gasmeter;
  const { from, x, first, last } = Gasmeter.shown(columns);
  const xs = columns.at.slice(from), ys = columns.value.slice(from), low = columns.low.slice(from), high = columns.high.slice(from);
  const y = Gasmeter.span([...ys, ...low, ...high]);
  if (!y) return null;
  const frame = Gasmeter.frame({ width, height: width < 500 ? 250 : 320, x, y, unit: series.unit_name, name: `${series.metric} (${series.kind})`, xTicks: Gasmeter.dateTicks(site.runs, first, last, width) });
  const group = svg("g", { class: series.kind });
  Gasmeter.pickedLine(frame, columns, picked, from);
  group.append(svg("path", { class: "band", d: Gasmeter.area(xs, low, high, frame.across, frame.up) }), svg("path", { class: "curve", d: Gasmeter.path(xs, ys, frame.across, frame.up) }));
  // A band of one run has no width, and few runs are points rather than a line: each has its interval as an upright.
  if (xs.length * 20 <= width) xs.forEach((run, i) => {
    if (!(high[i] > low[i])) return;
    Gasmeter.whisker(group, frame.across(run), frame.up(high[i]), frame.up(low[i]), 4);
  });
  if (xs.length * 5 <= width) xs.forEach((run, i) => { if (Number.isFinite(ys[i])) group.append(svg("circle", { class: columns.flags[from + i] & FLAGS.shared ? "hollow" : "dot", cx: frame.across(run), cy: frame.up(ys[i]), r: 2.6 })); });
  frame.root.append(group);
  const edges = [series.first, ...series.steps, series.last + 1];
  series.levels.forEach((level, i) => {
    const start = Math.max(edges[i] - (i ? 0.5 : 0), x[0]), end = Math.min(edges[i + 1] - 0.5, x[1]);
    if (level !== null && end > start && series.steps.length) frame.root.append(svg("line", { class: "level", x1: frame.across(start), x2: frame.across(end), y1: frame.up(level), y2: frame.up(level) }));
  });
  Gasmeter.stepMarks(frame, series.steps);
  const touch = svg("rect", { class: "touch", x: frame.left, y: 0, width: width - frame.left - frame.right, height: frame.height - frame.bottom });
  touch.addEventListener("click", (event) => {
    const box = frame.root.getBoundingClientRect();
    const wanted = x[0] + ((event.clientX - box.left) * (width / box.width) - frame.left) / (width - frame.left - frame.right) * (x[1] - x[0]);
    let best = from;
    for (let i = from; i < columns.at.length; i++) if (Math.abs(columns.at[i] - wanted) < Math.abs(columns.at[best] - wanted)) best = i;
    go(best);
  });
  frame.root.append(touch);
  frame.root.setAttribute("aria-label", `history of ${series.name} over ${xs.length} runs, ${series.steps.length} steps`);
  return frame.root;
};

// Draw a line at the run whose facts are shown. Measured values are drawn over it.
Gasmeter.pickedLine = function (frame, columns, picked, from) {
  if (picked < from) return;
  const at = frame.across(columns.at[picked]);
  frame.root.append(Gasmeter.svg("line", { class: "picked", x1: at, x2: at, y1: frame.top, y2: frame.height - frame.bottom }));
};

Gasmeter.hostStrip = function (series, columns, picked, width) {
  const { from, x } = Gasmeter.shown(columns);
  const xs = columns.at.slice(from), ys = columns.state.slice(from);
  const y = Gasmeter.span(ys, 0.1);
  if (!y) return null;
  const frame = Gasmeter.frame({ width, height: 92, x, y, unit: "ns", name: "state of the host: round trip of a cache line between the cores" });
  Gasmeter.pickedLine(frame, columns, picked, from);
  const group = Gasmeter.svg("g", { class: "published" });
  group.append(Gasmeter.svg("path", { class: "curve", d: Gasmeter.path(xs, ys, frame.across, frame.up) }));
  if (xs.length * 20 <= width) xs.forEach((run, i) => { if (Number.isFinite(ys[i])) group.append(Gasmeter.svg("circle", { class: "dot", cx: frame.across(run), cy: frame.up(ys[i]), r: 2.2 })); });
  frame.root.append(group);
  frame.root.setAttribute("aria-label", "state of the host by run");
  return frame.root;
};

Gasmeter.stepTable = function (series) {
  const { element, site } = Gasmeter;
  const box = element("section", {}, element("h3", {}, "Steps"));
  if (!series.steps.length) {
    box.append(element("p", { class: "small" }, series.count === 1 ? "One run: nothing to compare it with." : series.kind === "modelled" ? "Every run gave the same number." : series.count < 8 ? `Too few runs to tell a step from noise (${series.count}; at least 8).` : "No change of level that stands out of the noise."));
    return box;
  }
  const exact = series.kind === "modelled", level = (value) => Gasmeter.quantity(value, series.unit_name, exact);
  const table = Gasmeter.table(["from run", "change", "before", "after", "revision"], ["change", "before", "after"]);
  for (let i = series.steps.length - 1; i >= Math.max(0, series.steps.length - 40); i--) {
    const run = series.steps[i], [before, after] = series.levels.slice(i, i + 2);
    table.add([element("a", { href: `#/series/${series.id}/run/${run}` }, Gasmeter.date(site.runs.started[run]))],
      Gasmeter.changed(series, before, after), level(before), level(after), Gasmeter.commits(site.runs.revision[run]));
  }
  box.append(table.box, element("p", { class: "small" }, exact ? "Numbers without noise: any difference is a step." : "Medians of the runs between two steps."));
  if (series.steps.length > 40) box.append(element("p", { class: "small" }, `${series.steps.length - 40} older steps are not listed.`));
  return box;
};

Gasmeter.facts = function (rows) {
  const table = Gasmeter.element("table", { class: "facts" });
  for (const [name, value] of rows) if (value !== "" && value !== undefined && value !== null) table.append(Gasmeter.element("tr", {}, Gasmeter.element("th", { scope: "row" }, name), Gasmeter.element("td", {}, value)));
  return table;
};

Gasmeter.runPanel = function (series, columns, picked, go, width) {
  const { element, site } = Gasmeter;
  const run = columns.at[picked], told = Gasmeter.open.runs.runs[run], flags = columns.flags[picked], exact = series.kind === "modelled";
  const show = (name) => Gasmeter.quantity(columns[name][picked], series.unit_name, exact);
  const box = element("section", {},
    element("h3", {}, `Run of ${Gasmeter.date(site.runs.started[run])}`),
    element("div", { class: "bar" },
      element("button", { type: "button", disabled: picked === 0, onclick: () => go(picked - 1) }, "‹ older"),
      element("span", { class: "small" }, `${picked + 1} of ${columns.at.length}`),
      element("button", { type: "button", disabled: picked === columns.at.length - 1, onclick: () => go(picked + 1) }, "newer ›")),
    Gasmeter.facts([
      [`${series.metric} (${series.kind})`, show("value")],
      ["95 % interval", flags & FLAGS.noInterval ? "none" : `${show("low")} to ${show("high")}`],
      ["least, 99th percentile", flags & FLAGS.noSpread ? "" : `${show("min")}, ${show("p99")}`],
      ["blocks", String(columns.n[picked])],
      ["data", flags & FLAGS.verified ? "verified" : flags & FLAGS.unchecked ? "not checked" : "did NOT verify: no rate is reported"],
      ["cores", flags & FLAGS.shared ? "more ranks than cores" : ""],
      ["state of the host", flags & FLAGS.noState ? "" : `${columns.state[picked].toFixed(1)} ns between cores`],
      ["revision", Gasmeter.commits(site.runs.revision[run])], ["started", Gasmeter.moment(site.runs.started[run])],
      ["store", element("a", { href: `#/run/${run}` }, `${site.runs.name[run]} (${site.runs.state[run]})`)], ["command", told.command],
    ]));
  const samples = columns.samples[run];
  if (samples) {
    const values = Gasmeter.unpack(samples.value, samples.count, columns.unit), kept = Gasmeter.unpack(samples.kept, samples.count);
    const chart = Gasmeter.blocks(values, kept, series, Math.min(width, 620), columns.value[picked]);
    const thinned = samples.of > samples.count ? `, one in ${Math.ceil(samples.of / samples.count)} of ${samples.of}` : "";
    if (chart) box.append(element("h3", {}, "Blocks"), chart, element("p", { class: "small" }, `${samples.count} blocks in the order measured${thinned}; dotted: the run's median; hollow: left out of comparisons, the cores had moved.`));
  } else box.append(element("p", { class: "small" }, series.reference ? "A comparison: its blocks are those of the two that are compared." : "The blocks of this run are in its store; the site keeps those of the newest runs and beside steps."));
  const counted = Object.entries(columns.counters[run] ?? {});
  if (counted.length) box.append(element("details", {}, element("summary", {}, "Counters"),
    Gasmeter.facts(counted.map(([name, [all, each]]) => [name.replaceAll("_", " "), `${each === null ? "" : `${Gasmeter.digits(each)} per operation, `}${all.toLocaleString("en")} in all`])),
    element("p", { class: "small" }, "Summed over ranks and measured blocks; what stayed 0 is not shown.")));
  box.append(...Gasmeter.hostAndVersions(Gasmeter.open.runs, told));
  for (const text of [...told.errors, ...told.notes].slice(0, 20)) box.append(element("p", { class: "note small" }, text));
  return box;
};

// Return the facts of a run's machine and programs, folded.
Gasmeter.hostAndVersions = function (runs, told) {
  const { element } = Gasmeter;
  const lists = [["Host", runs.tables[told.host]], ["Versions", runs.tables[told.versions]]].map(([name, table]) => element("details", {}, element("summary", {}, name),
    Object.keys(table).length ? Gasmeter.facts(Object.entries(table).map(([key, value]) => [key.replaceAll("_", " "), Gasmeter.fact(key, value)])) : element("p", { class: "small" }, "not stated")));
  if (told.load) lists[0].append(element("p", { class: "small" }, `load when it began: ${told.load.map((one) => one.toFixed(2)).join(", ")}`));
  return lists;
};

Gasmeter.fact = (key, value) => (key.endsWith("_bytes") ? Gasmeter.quantity(Number(value), "B") : Array.isArray(value) ? value.join(", ") : String(value));
