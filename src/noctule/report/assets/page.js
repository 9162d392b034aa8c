// The page: reads its data, builds figures, controls and panels, and tells when it has drawn.

const buildPage = async () => {
  const content = pageContent();
  const store = new ColumnStore();
  const runs = content.runs.map((told, i) => new Run(i, told, store, content.states));
  await Promise.all(runs.map((run) => run.load()));
  const view = new View(runs);
  const page = { content, runs, view, figures: new Figures(view), tip: new Tip(), gantts: [], series: {} };
  page.seriesOf = seriesOf;
  for (const run of runs) run.waits = content.panels.waits?.[run.index] ?? null;
  page.data = (name) => content.panels[name];
  buildTheme(page);
  runs.forEach((run) => view.hostRange(run));
  applyAddress(view, location.hash.slice(1));
  describe(page);
  buildControls(page);
  await buildGantts(page);
  await buildSeries(page);
  document.documentElement.dataset.state = "drawn";
  performance.mark("drawn");
  keepAddress(view, "range hosts runs colour brush job user layout theme");
  buildSearch(document.getElementById("search"), page);
  buildKeyboard(page);
  buildSkipping();
  await buildChosenJob(document.getElementById("chosen"), page);
  await buildPanels(document.getElementById("panels"), page);
  document.documentElement.dataset.state = "ready";
  window.noctule = page;
};

const describe = ({ content, runs, view }) => {
  const each = (tell) => [...new Set(runs.map(tell))].join(" / ");
  const facts = [each((run) => countText(run.nJobs, "job")), each((run) => countText(run.nHosts, "host"))];
  if (runs.some((run) => run.nJobs)) facts.push(durationText(view.full[1] - view.full[0]));
  const notes = runs.flatMap((run) => run.told.notes.map((note) => `${run.name}: ${note}`));
  const ranSomewhere = (run) => run.start.some((date) => !Number.isNaN(date));
  if (runs.some((run) => !run.nBoxes && ranSomewhere(run))) notes.push("Hosts of jobs are not told.");
  if (runs.every((run) => !run.nJobs)) notes.push("There are no jobs to show.");
  describePage(facts.join(" · "), notes, content.version);
};

// ------------------------------------------------------------------ figures

const heightOfGantt = (n) => (n === 1 ? 400 : n === 2 ? 280 : n <= 4 ? 210 : 170);

const buildGantts = async (page) => {
  const target = document.getElementById("gantts");
  for (const run of page.runs) {
    const body = element("div", { class: "figure-body" });
    const caption = element(
      "figcaption",
      {},
      element("span", { class: "swatch", style: `background:${runColour(run)}` }),
      element("bdi", {}, shortText(run.name, 60)),
    );
    const label = `Gantt chart of ${shortText(run.name, 60)}: hosts over time`;
    const headline = element("span", { class: "headline" });
    const figure = element("figure", { class: "gantt", "aria-label": label }, caption, headline, body);
    target.append(figure);
    const gantt = new Gantt(run, page);
    gantt.headline = headline;
    page.gantts.push(gantt);
    await gantt.build(body, heightOfGantt(page.view.shownRuns.length));
    gantt.element = figure;
  }
  const arrange = () => {
    target.classList.toggle("columns", page.view.get("layout") === "columns");
    const shown = new Set(page.view.shownRuns);
    for (const gantt of page.gantts) {
      gantt.element.hidden = !shown.has(gantt.run);
      gantt.figure.plot.height = heightOfGantt(shown.size);
    }
  };
  page.view.on("runs layout", arrange);
  arrange();
  const legend = document.getElementById("legend");
  const tell = async () => {
    const shown = page.view.shownRuns[0];
    const entries = shown ? (await colouringOf(shown, page.view)).legend : [];
    legend.replaceChildren(
      ...entries.map(([label, colour]) => legendEntry(label, { style: `background:${colour}` })),
      ...groundLegend(page.view.shownRuns).map((kind) => legendEntry(kind, { "data-ground": kind })),
    );
  };
  page.view.on("colour user runs data", tell);
  await tell();
};

const legendEntry = (label, swatch) =>
  element(
    "li",
    {},
    element("span", { class: "swatch", ...swatch }),
    element("bdi", {}, label),
  );

const SERIES_FIGURES = [
  ["utilisation", "Utilisation", { label: "hosts in use", formatter: PercentFormatter, text: percentText, most: 1.02 }],
  ["queue", "Queue", { label: "waiting jobs", formatter: CountFormatter, text: numberText, whole: true }],
  ["power", "Power", { label: "watts", formatter: CountFormatter, text: (watts) => prefixedText(watts, "W") }],
];

const buildSeries = async (page) => {
  const target = document.getElementById("series");
  for (const [name, title, options] of SERIES_FIGURES) {
    const known = await Promise.all(page.runs.map((run) => seriesOf(run, name)));
    if (known.every((steps) => steps === null)) continue;
    const body = element("div", { class: "figure-body" });
    const label = `${title} over time, one line a run`;
    target.append(element("figure", { "aria-label": label }, element("figcaption", {}, title), body));
    const formatter = new options.formatter();
    page.series[name] = new SeriesFigure(name, page, { ...options, formatter });
    await page.series[name].build(body);
  }
};

// ------------------------------------------------------------------ controls

const buildControls = (page) => {
  const { view, runs } = page;
  buildRunChoice(page);
  const colour = document.getElementById("colour");
  const possible = COLOURINGS.filter(
    ([name]) => !["user", "group", "queue"].includes(name) || runs.some((run) => run.has(name)),
  );
  colour.append(...possible.map(([name, label]) => element("option", { value: name }, label)));
  colour.addEventListener("change", () => view.set("colour", colour.value));
  const followColour = () => (colour.value = view.get("colour"));
  view.on("colour", followColour);
  followColour();
  let drag = "pan";
  const buttons = [...document.querySelectorAll("[data-drag]")];
  page.dragging = () => drag;
  page.setDrag = (name) => {
    drag = name;
    page.figures.drag(name);
    buttons.forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.drag === name)));
  };
  buttons.forEach((b) => b.addEventListener("click", () => page.setDrag(b.dataset.drag)));
  const acts = {
    "zoom-in": () => view.zoom(1 / 1.5),
    "zoom-out": () => view.zoom(1.5),
    reset: () => view.reset(),
    help: () => document.getElementById("help").showModal(),
    unbrush: () => view.set("brush", null),
    "zoom-brush": () => view.get("brush") && view.show(...view.get("brush")),
    layout: () => view.set("layout", view.get("layout") === "columns" ? "stacked" : "columns"),
  };
  for (const [name, act] of Object.entries(acts)) {
    for (const b of document.querySelectorAll(`[data-act="${name}"]`)) b.addEventListener("click", act);
  }
  const layout = document.querySelector('[data-act="layout"]');
  layout.hidden = runs.length < 2;
  const followLayout = () => layout.setAttribute("aria-pressed", view.get("layout") === "columns");
  view.on("layout", followLayout);
  followLayout();
  followPeriod(view);
};

const buildRunChoice = ({ view, runs }) => {
  const target = document.getElementById("runs");
  target.hidden = runs.length < 2;
  const boxes = runs.map((run) => {
    const box = element("input", { type: "checkbox", value: run.index });
    box.addEventListener("change", () => {
      const chosen = boxes.filter((b) => b.checked).map((b) => Number(b.value));
      if (chosen.length) view.set("runs", chosen);
      else box.checked = true;
    });
    const swatch = element("span", { class: "swatch", style: `background:${runColour(run)}` });
    target.append(element("label", { class: "chip" }, box, swatch, element("bdi", {}, shortText(run.name, 40))));
    return box;
  });
  const follow = () => boxes.forEach((b) => (b.checked = view.get("runs").includes(Number(b.value))));
  view.on("runs", follow);
  follow();
};

// Tell in words which period is visible and which is chosen.
const followPeriod = (view) => {
  const period = document.getElementById("period");
  const brushed = document.getElementById("brushed");
  const tell = throttled(100, () => {
    const [from, to] = view.period;
    period.textContent = `${dateText(Math.round(from))} to ${dateText(Math.round(to))} (${durationText(to - from)})`;
    const brush = view.get("brush");
    brushed.hidden = brush === null;
    if (brush === null) return;
    const [first, last] = brush;
    brushed.querySelector("span").textContent =
      `Chosen: ${dateText(Math.round(first))} to ${dateText(Math.round(last))} (${durationText(last - first)})`;
  });
  view.on("range brush", tell);
  tell();
};

openPage(buildPage);
