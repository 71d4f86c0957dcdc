"use strict";
// Columns that are unpacked, quantities with their units, and scripts that are read when they are wanted.

const Gasmeter = { waiting: new Map() };

// Unpack numbers of gasmeter/dashboard/packing.py: differences, zigzag, seven bits a byte, base 64; a constant is a number.
Gasmeter.unpack = function (packed, count, unit = 1) {
  const values = new Float64Array(count);
  if (typeof packed === "number") return values.fill(packed * unit);
  const bytes = atob(packed);
  let at = 0, total = 0, value = 0, scale = 1;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes.charCodeAt(i);
    value += (byte & 127) * scale; // no shifts: numbers go beyond 32 bits
    if (byte < 128) {
      total += value % 2 ? -(value + 1) / 2 : value / 2;
      values[at++] = total * unit;
      value = 0; scale = 1;
    } else scale *= 128;
  }
  return values;
};

// A page from disk cannot fetch: data come as scripts that call Gasmeter.series or Gasmeter.runs.
Gasmeter.load = function (path, key) {
  if (!Gasmeter.waiting.has(key)) {
    Gasmeter.waiting.set(key, new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = path;
      script.onload = () => done(Gasmeter.waiting.get(key + ":data"));
      script.onerror = () => { Gasmeter.waiting.delete(key); failed(new Error(`${path} is missing: copy the whole folder`)); };
      document.head.append(script);
    }));
  }
  return Gasmeter.waiting.get(key);
};
Gasmeter.series = (id, content) => Gasmeter.waiting.set(`${id}:data`, content);
Gasmeter.runs = (content) => Gasmeter.waiting.set("runs:data", content);

const SCALES = {
  "ns": [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]],
  "B/s": [[1e9, "GB/s"], [1e6, "MB/s"], [1e3, "kB/s"], [1, "B/s"]],
  "1/s": [[1e6, "M/s"], [1e3, "k/s"], [1, "1/s"]],
  "B": [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]],
  "ratio": [[0.01, "%"]],
};

// The unit in which numbers as large as this one are shown.
Gasmeter.scale = function (unit, most) {
  const steps = SCALES[unit] || [[1, unit]];
  const found = steps.find(([factor]) => Math.abs(most) >= factor) || steps[steps.length - 1];
  return { factor: found[0], name: found[1] };
};

Gasmeter.digits = function (value, digits = 4) {
  if (!Number.isFinite(value)) return "-";
  if (value === 0) return "0";
  return Math.abs(value) >= 1e6 || Math.abs(value) < 1e-4 ? value.toExponential(digits - 1) : String(Number(value.toPrecision(digits)));
};

Gasmeter.quantity = function (value, unit, exact = false) {
  if (value === null || !Number.isFinite(value)) return "-";
  const { factor, name } = Gasmeter.scale(unit, value);
  return `${Gasmeter.digits(value / factor, exact ? 12 : 4)} ${name}`;
};

Gasmeter.bytes = (text) => {
  const size = Number(text);
  return size ? Gasmeter.quantity(size, "B") : "no payload";
};

// A change in words: how large, and whether it is for the worse. Ratios near zero are told in points, not in percent of them.
Gasmeter.change = function (before, after, better, unit) {
  if (!Number.isFinite(before) || !Number.isFinite(after)) return { text: "-", kind: "" };
  const points = unit === "ratio";
  if (!points && !before) return { text: "from 0", kind: "" };
  const by = points ? after - before : after / before - 1;
  const small = Math.abs(by) < 0.0005;
  const size = small ? Gasmeter.digits(by * 100, 2) : (by * 100).toFixed(1);
  const text = `${by > 0 ? "+" : ""}${size} ${points ? "points" : "%"}`;
  const worse = better === "smaller" ? by > 0 : by < 0;
  return { text, kind: better === "neither" || !by ? "" : worse ? "worse" : "better" };
};
// The same in the colour of what it is.
Gasmeter.changed = function (series, before, after) {
  const { text, kind } = Gasmeter.change(before, after, series.better, series.unit_name);
  return Gasmeter.element("span", { class: kind }, kind ? `${text} ${kind}` : text);
};

Gasmeter.revision = (text) => (text ? text.split(", ").map((one) => one.slice(0, 9) + (one.endsWith("-dirty") ? "-dirty" : "")).join(", ") : "no revision");
// Revisions, each a link to its commit where the site knows the repository's address.
Gasmeter.commits = function (text) {
  const { element, site } = Gasmeter, made = element("span", {});
  for (const one of text ? text.split(", ") : []) {
    const code = element("code", {}, Gasmeter.revision(one)), hash = one.replace(/-dirty$/, "");
    if (made.childNodes.length) made.append(", ");
    made.append(site.commit_url ? element("a", { href: site.commit_url.replaceAll("{revision}", encodeURIComponent(hash)) }, code) : code);
  }
  if (!made.childNodes.length) made.append("revision not stated");
  return made;
};
Gasmeter.moment = (text) => (text ?? "").replace("T", " ").replace(/(\+00:00|Z)$/, " UTC");
Gasmeter.date = (text) => (text ? text.slice(0, 10) : "no date");

// An element with attributes and children; text never becomes markup.
Gasmeter.element = function (name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
};

// A table of which each first cell names its row, and what adds a row to it. On narrow screens rows are cards (cards.css).
Gasmeter.table = function (heads, numbers) {
  const { element } = Gasmeter, body = element("tbody"), right = (head) => numbers.includes(head);
  const head = element("tr", {}, ...heads.map((name) => element("th", { class: right(name) && "number", scope: "col" }, name)));
  const add = (first, ...cells) => body.append(element("tr", {},
    element("th", { scope: "row" }, ...first),
    ...cells.map((cell, i) => element("td", { class: right(heads[i + 1]) ? "number" : "whole", "data-label": heads[i + 1] }, cell))));
  return { box: element("div", { class: "wide" }, element("table", { class: "cards flowing" }, element("thead", {}, head), body)), add };
};
