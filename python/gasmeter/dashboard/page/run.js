"use strict";
// The page of one run: what it was, which levels changed in it, and every number it has.

const MOST_ROWS = 300;

Gasmeter.runPage = async function (run) {
  const { element, site } = Gasmeter, page = document.getElementById("page");
  const body = element("div", {}, element("p", {}, "Reading the run …")), runs = site.runs.started.length;
  const beside = (to, words) => (to >= 0 && to < runs ? element("a", { href: `#/run/${to}` }, words) : null);
  page.replaceChildren(
    element("p", { class: "bar" }, element("a", { href: "#/" }, "← all series"), beside(run - 1, "‹ older run"), beside(run + 1, "newer run ›")),
    element("h2", {}, `Run of ${Gasmeter.date(site.runs.started[run])}: ${site.runs.name[run]}`), body,
  );
  window.scrollTo(0, 0);
  let told, values;
  try {
    told = await Gasmeter.load("data/runs.js", "runs");
    values = await Gasmeter.load(`data/run/${run}.js`, `run ${run}`);
  } catch (error) {
    body.replaceChildren(element("p", { class: "note" }, error.message));
    return;
  }
  const about = told.runs[run], stepped = site.series.filter((series) => series.steps.includes(run));
  body.replaceChildren(
    element("p", { class: "headline" }, stepped.length ? `${stepped.length} ${stepped.length === 1 ? "series steps" : "series step"} in this run.` : "No step in this run."),
    Gasmeter.runSteps(stepped, run) ?? "",
    ...[...about.errors, ...about.notes].slice(0, 20).map((text) => element("p", { class: "note small" }, text)),
    Gasmeter.facts([
      ["experiment", about.experiment], ["started", Gasmeter.moment(site.runs.started[run])], ["state", site.runs.state[run]],
      ["revision", Gasmeter.commits(site.runs.revision[run])], ["host", site.hosts[site.runs.host[run]]], ["command", about.command],
    ]),
    ...Gasmeter.hostAndVersions(told, about),
    Gasmeter.runValues(values, run),
  );
};

Gasmeter.runSteps = function (stepped, run) {
  const { element } = Gasmeter;
  if (!stepped.length) return null;
  const table = Gasmeter.table(["series", "change", "before", "after"], ["change", "before", "after"]);
  for (const series of stepped.slice(0, MOST_ROWS)) {
    const i = series.steps.indexOf(run), [before, after] = series.levels.slice(i, i + 2);
    table.add([element("a", { href: `#/series/${series.id}/run/${run}` }, `${series.title}: ${series.metric}`), element("span", { class: "small" }, ` ${Gasmeter.what(series)}`)],
      Gasmeter.changed(series, before, after), ...[before, after].map((level) => Gasmeter.quantity(level, series.unit_name, series.kind === "modelled")));
  }
  return table.box;
};

Gasmeter.runValues = function (packed, run) {
  const { element, site } = Gasmeter, owners = Gasmeter.unpack(packed.series, packed.value.length);
  const table = Gasmeter.table(["series", "metric", "kind", "value"], ["value"]);
  const show = (from, to) => {
    for (let i = from; i < Math.min(to, owners.length); i++) {
      const series = site.series[owners[i]];
      table.add([element("a", { href: `#/series/${series.id}/run/${run}` }, series.title), element("span", { class: "small" }, ` ${Gasmeter.what(series)}`)],
        series.metric, element("span", { class: series.kind }, series.kind), Gasmeter.quantity(packed.value[i], series.unit_name, series.kind === "modelled"));
    }
  };
  show(0, MOST_ROWS);
  const more = owners.length > MOST_ROWS ? element("button", { type: "button", onclick: () => { show(MOST_ROWS, owners.length); more.remove(); } }, `show ${owners.length - MOST_ROWS} more`) : null;
  return element("section", {}, element("h3", {}, `What it came to (${owners.length} series)`), table.box, more);
};

// Runs from the newest to the oldest, each with its steps.
Gasmeter.runList = function () {
  const { element, site } = Gasmeter, steps = site.runs.started.map(() => 0);
  for (const series of site.series) for (const at of series.steps) steps[at]++;
  const list = element("ul", { class: "small" });
  for (let run = steps.length - 1; run >= Math.max(0, steps.length - MOST_ROWS); run--) list.append(element("li", {},
    element("a", { href: `#/run/${run}` }, `${Gasmeter.date(site.runs.started[run])} ${site.runs.name[run]}`), `: ${steps[run] === 1 ? "1 step" : `${steps[run] || "no"} steps`}, `, Gasmeter.commits(site.runs.revision[run])));
  if (steps.length > MOST_ROWS) list.append(element("li", {}, `${steps.length - MOST_ROWS} older runs are not listed`));
  return element("details", { class: "runs" }, element("summary", {}, `${steps.length} ${steps.length === 1 ? "run" : "runs"}, newest first`), list);
};
