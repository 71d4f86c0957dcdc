"use strict";
// Lines over runs, dots over blocks: SVG with axes that carry units.

Gasmeter.svg = function (name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

// Round numbers that lie in [low, high].
Gasmeter.ticks = function (low, high, about) {
  const rough = (high - low) / Math.max(1, about);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough * 0.999);
  const found = [];
  for (let tick = Math.ceil(low / step - 1e-9) * step; tick <= high + step * 1e-9; tick += step) found.push(tick);
  return { step, found };
};

Gasmeter.span = function (values, least = 0.02) {
  let low = Infinity, high = -Infinity;
  for (const value of values) if (Number.isFinite(value)) { low = Math.min(low, value); high = Math.max(high, value); }
  if (low > high) return null;
  const room = Math.max((high - low) * 0.06, Math.abs(high) * least / 2, high === low && !high ? 1 : 0);
  return [low - room, high + room];
};

// Round values between two, in a unit, and what they are called.
Gasmeter.evenTicks = function (y, factor, room) {
  let about = Math.max(2, Math.floor(room / 34)), { found, step } = Gasmeter.ticks(y[0] / factor, y[1] / factor, about);
  while (found.length < 2 && about < 12) ({ found, step } = Gasmeter.ticks(y[0] / factor, y[1] / factor, ++about));
  const places = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return found.map((tick) => [tick * factor, Math.abs(tick) < 1e6 ? tick.toFixed(Math.min(places, 9)) : tick.toExponential(3)]);
};

// The interval of one value: an upright with its ends.
Gasmeter.whisker = function (group, at, top, foot, half) {
  const ends = half ? `M${at - half} ${top}h${2 * half}M${at - half} ${foot}h${2 * half}` : "";
  group.append(Gasmeter.svg("path", { class: "whisker", d: `M${at} ${top}V${foot}${ends}` }));
};

// Powers of ten between two logarithms, with 2 and 5 of each where those are few: values and what they are called.
Gasmeter.logTicks = function (low, high, unit, about) {
  const decades = [];
  for (let power = Math.floor(low); power <= Math.ceil(high); power++) decades.push(10 ** power);
  const inside = (values) => values.filter((value) => Math.log10(value) >= low - 1e-9 && Math.log10(value) <= high + 1e-9);
  let found = inside(decades);
  if (found.length < 2) found = inside(decades.flatMap((one) => [one, 2 * one, 5 * one]));
  const step = Math.max(1, Math.ceil(found.length / Math.max(2, about)));
  return found.filter((_, i) => i % step === 0).map((value) => [value, Gasmeter.quantity(value, unit)]);
};

// The frame of a chart: scales, grid and axes. `x` are the positions of the first and last run or block; with `log` the
// ends of `y` are logarithms, and each tick has its unit.
Gasmeter.frame = function ({ width, height, x, y, unit, left = 58, bottom = 20, top = 18, right = 10, name = "", xTicks = [], log = false }) {
  const { svg } = Gasmeter;
  const scale = log ? { factor: 1, name: "" } : Gasmeter.scale(unit, Math.max(Math.abs(y[0]), Math.abs(y[1])));
  const across = (value) => left + ((value - x[0]) / Math.max(1e-12, x[1] - x[0])) * (width - left - right);
  const up = (value) => height - bottom - (((log ? Math.log10(value) : value) - y[0]) / (y[1] - y[0])) * (height - bottom - top);
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img" });
  const ticks = log ? Gasmeter.logTicks(y[0], y[1], unit, (height - bottom - top) / 22) : Gasmeter.evenTicks(y, scale.factor, height - bottom - top);
  for (const [value, words] of ticks) {
    const at = up(value);
    root.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: at, y2: at }));
    const text = svg("text", { x: left - 5, y: at + 4, "text-anchor": "end" });
    text.textContent = words;
    root.append(text);
  }
  const label = svg("text", { x: 2, y: 10 });
  label.textContent = [name, scale.name].filter(Boolean).join(", ");
  root.append(label, svg("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }));
  xTicks.forEach(([at, words], i) => {
    const place = across(at);
    const anchor = xTicks.length === 1 ? "middle" : i === 0 ? "start" : i === xTicks.length - 1 ? "end" : "middle";
    const text = svg("text", { x: anchor === "start" ? Math.min(place, left) : place, y: height - 4, "text-anchor": anchor });
    text.textContent = words;
    root.append(svg("line", { class: "axis", x1: place, x2: place, y1: height - bottom, y2: height - bottom + 3 }), text);
  });
  return { root, across, up, left, right, bottom, top, width, height, scale };
};

// A path through points; a missing value interrupts it.
Gasmeter.path = function (xs, ys, across, up) {
  let text = "", pen = false;
  for (let i = 0; i < xs.length; i++) {
    if (Number.isFinite(ys[i])) {
      text += `${pen ? "L" : "M"}${across(xs[i]).toFixed(1)} ${up(ys[i]).toFixed(1)}`;
      pen = true;
    } else pen = false;
  }
  return text;
};

Gasmeter.area = function (xs, low, high, across, up) {
  let text = "", start = 0;
  const close = (end) => {
    if (end <= start) return;
    const there = [], back = [];
    for (let i = start; i < end; i++) {
      there.push(`${across(xs[i]).toFixed(1)} ${up(high[i]).toFixed(1)}`);
      back.unshift(`${across(xs[i]).toFixed(1)} ${up(low[i]).toFixed(1)}`);
    }
    text += `M${there.join("L")}L${back.join("L")}Z`;
  };
  for (let i = 0; i <= xs.length; i++) if (i === xs.length || !Number.isFinite(low[i])) { close(i); start = i + 1; }
  return text;
};

// Vertical marks where the level changes, each with a triangle on top.
Gasmeter.stepMarks = function (frame, steps) {
  for (const at of steps) {
    const x = frame.across(at - 0.5), y = frame.top;
    if (x < frame.left - 1 || x > frame.width - frame.right + 1) continue;
    frame.root.append(
      Gasmeter.svg("line", { class: "step", x1: x, x2: x, y1: y, y2: frame.height - frame.bottom }),
      Gasmeter.svg("path", { class: "stepmark", d: `M${x - 4} ${y - 5}h8l-4 6z` }),
    );
  }
};

// Labels below a history: dates of a few runs, as many as fit.
Gasmeter.dateTicks = function (runs, first, last, width) {
  const fit = Math.max(1, Math.min(Math.floor(width / 150), last - first));
  const found = [];
  for (let i = 0; i <= fit; i++) {
    const at = Math.round(first + ((last - first) * i) / Math.max(1, fit));
    if (!found.length || found[found.length - 1][0] !== at) found.push([at, Gasmeter.date(runs.started[at])]);
  }
  return found;
};

// A small multiple: the thinned history of one series.
Gasmeter.spark = function (series, runs, width) {
  const [count, at, value] = series.spark;
  const xs = Gasmeter.unpack(at, count), ys = Gasmeter.unpack(value, count, series.unit);
  const y = Gasmeter.span(ys);
  if (!y) return Gasmeter.element("p", { class: "small" }, "no value that verified");
  const x = series.last > series.first ? [series.first, series.last] : [series.first - 1, series.last + 1];
  const ends = series.last > series.first ? [series.first, series.last] : [series.first];
  const frame = Gasmeter.frame({ width, height: 118, x, y, unit: series.unit_name, xTicks: ends.map((run) => [run, Gasmeter.date(runs.started[run])]) });
  Gasmeter.stepMarks(frame, series.steps);
  const group = Gasmeter.svg("g", { class: series.kind });
  group.append(Gasmeter.svg("path", { class: "curve", d: Gasmeter.path(xs, ys, frame.across, frame.up) }));
  if (count < 25) xs.forEach((run, i) => group.append(Gasmeter.svg("circle", { class: "dot", cx: frame.across(run), cy: frame.up(ys[i]), r: 2.2 })));
  frame.root.append(group);
  frame.root.setAttribute("aria-label", `${series.name}: ${series.count} runs, ${series.steps.length} steps`);
  return frame.root;
};

// Blocks of one run in the order measured.
Gasmeter.blocks = function (values, kept, series, width, median) {
  const y = Gasmeter.span([...values, median]);
  if (!y) return null;
  const frame = Gasmeter.frame({ width, height: 190, x: [0, Math.max(1, values.length - 1)], y, unit: series.unit_name, name: series.metric, xTicks: [[0, "first block"], [Math.max(1, values.length - 1), "last block"]] });
  const group = Gasmeter.svg("g", { class: series.kind });
  values.forEach((value, i) => {
    if (Number.isFinite(value)) group.append(Gasmeter.svg("circle", { class: kept[i] ? "dot" : "dropped", cx: frame.across(i), cy: frame.up(value), r: 2.1 }));
  });
  frame.root.append(group);
  if (Number.isFinite(median)) {
    const at = frame.up(median);
    frame.root.append(Gasmeter.svg("line", { class: "middle", x1: frame.left, x2: frame.width - frame.right, y1: at, y2: at }));
  }
  frame.root.setAttribute("aria-label", `${values.length} blocks`);
  return frame.root;
};
