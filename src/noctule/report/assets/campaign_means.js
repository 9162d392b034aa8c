// Means of the chosen metric by the chosen parameter, with intervals: a figure and a table.

// Seconds become hours or days in figures, where they are many.
const axisUnit = ({ name, unit }, values) => {
  const most = Math.max(0, ...values.filter(Number.isFinite).map(Math.abs));
  const [per, told] =
    unit !== "s" ? [1, unit] : most >= 2 * DAY ? [DAY, "days"] : most >= 2 * HOUR ? [HOUR, "hours"] : most >= 10 * MINUTE ? [MINUTE, "minutes"] : [1, "s"];
  return { per, label: told ? `${metricText(name)} (${told})` : metricText(name) };
};

const metricText = (name) => name.replaceAll("_", " ");

// A value with as many digits as tell something, and its duration where it is one.
const metricValue = ({ unit }, value) =>
  unit === "s" && Number.isFinite(value) && Math.abs(value) >= MINUTE
    ? `${numberText(value)} s (${durationText(value)})`
    : `${numberText(value)} ${unit}`.trim();

const groupColour = (groups, group) => RUN_COLOURS[groups.indexOf(group) % RUN_COLOURS.length];

const meanFacts = (row, table, metric) => [
  [table.by, row.level],
  ...(table.within ? [[table.within, row.group]] : []),
  ["mean", metricValue(metric, row.mean)],
  ["interval", `${numberText(row.low)} to ${numberText(row.high)}`],
  ["normalised", `${numberText(row.normalised_low)} to ${numberText(row.normalised_high)}`],
  ["least, largest", `${numberText(row.minimum)}, ${numberText(row.maximum)}`],
  ["runs", countText(row.n, "run")],
  ["units", countText(row.n_units, row.unit)],
];

// Levels that are no numbers: one below the other, groups of a level close together.
const rowsFigure = (rows, bounds, table, metric) => {
  const { per, label } = axisUnit(metric, rows.flatMap(({ mean, low, high }) => [mean, low, high]));
  const n = table.groups.length;
  const gap = Math.min(0.16, 0.7 / Math.max(1, n));
  const at = (row) => table.levels.indexOf(row.level) + (table.groups.indexOf(row.group) - (n - 1) / 2) * gap;
  const known = rows.filter(({ mean }) => Number.isFinite(mean));
  const bar = (row, low, high, width, alpha) =>
    Number.isFinite(low) && Number.isFinite(high)
      ? [{ x0: low / per, x1: high / per, y0: at(row), y1: at(row), colour: groupColour(table.groups, row.group), width, alpha }]
      : [];
  const limits = bounds.filter(({ level, mean }) => table.levels.includes(level) && Number.isFinite(mean));
  return {
    points: [
      ...limits.map((row) => ({
        x: row.mean / per, y: table.levels.indexOf(row.level), colour: OTHERS, marker: "diamond", isHollow: true,
        facts: [[table.by, row.level], ["bound", row.bound], ["mean", metricValue(metric, row.mean)], ["runs", countText(row.n, "run")]],
      })),
      ...known.map((row) => ({
        x: row.mean / per, y: at(row), colour: groupColour(table.groups, row.group), facts: meanFacts(row, table, metric),
      })),
    ],
    segments: known.flatMap((row) => [
      ...bar(row, row.normalised_low, row.normalised_high, 7, 0.35),
      ...bar(row, row.low, row.high, 1.6, 1),
    ]),
    xAxis: { label },
    yAxis: { names: new Map(table.levels.map((level, i) => [i, shortText(level, 34)])) },
    height: Math.max(150, 70 + table.levels.length * Math.max(30, 13 * n)),
  };
};

// Levels that are numbers: a line a group, with a band.
const curvesFigure = (rows, table, metric, numberOf) => {
  const { per, label } = axisUnit(metric, rows.flatMap(({ mean, low, high }) => [mean, low, high]));
  const known = rows
    .filter(({ mean }) => Number.isFinite(mean))
    .map((row) => ({ ...row, x: numberOf(row.level) }))
    .sort((a, b) => a.x - b.x);
  const [points, lines, bands] = [[], [], []];
  for (const group of table.groups) {
    const mine = known.filter((row) => row.group === group);
    const colour = groupColour(table.groups, group);
    const sure = mine.filter(({ low, high }) => Number.isFinite(low) && Number.isFinite(high));
    lines.push({ xs: mine.map(({ x }) => x), ys: mine.map(({ mean }) => mean / per), colour });
    bands.push({ xs: sure.map(({ x }) => x), lows: sure.map(({ low }) => low / per), highs: sure.map(({ high }) => high / per), colour });
    points.push(...mine.map((row) => ({ x: row.x, y: row.mean / per, colour, facts: meanFacts(row, table, metric) })));
  }
  const segments = known
    .filter(({ low, high }) => Number.isFinite(low) && Number.isFinite(high))
    .map((row) => ({
      x0: row.x, x1: row.x, y0: row.low / per, y1: row.high / per, colour: groupColour(table.groups, row.group), width: 1.6, alpha: 1,
    }));
  const places = [...new Set(known.map(({ x }) => x))];
  return {
    points, lines, bands, segments, height: 340,
    xAxis: { label: table.by, values: places.length <= 12 ? places : null },
    yAxis: { label },
  };
};

// The same figure with logarithms along one side, if all points have one; what reaches zero is cut
// off at the least that is shown.
const logarithmic = (figure, side) => {
  const { points, segments, bands = [] } = figure;
  if (!points.every((point) => point[side] > 0)) return figure;
  const [first, second, axis] = [`${side}0`, `${side}1`, `${side}Axis`];
  const ends = segments.flatMap((one) => [one[first], one[second]]);
  const least = Math.min(...[...points.map((point) => point[side]), ...ends].filter((value) => value > 0));
  const cut = (value) => Math.max(value, least);
  return {
    ...figure,
    segments: segments.map((one) => ({ ...one, [first]: cut(one[first]), [second]: cut(one[second]) })),
    bands: bands.map((band) => ({ ...band, lows: band.lows.map(cut), highs: band.highs.map(cut) })),
    [axis]: { ...figure[axis], isLog: true },
  };
};

const groupLegend = (table) =>
  table.within
    ? element(
        "ul",
        { class: "bar-legend", "aria-label": `Colours: ${table.within}` },
        ...table.groups.map((group) =>
          element(
            "li",
            {},
            element("span", { class: "swatch", style: `background:${groupColour(table.groups, group)}` }),
            element("bdi", {}, shortText(group, 40)),
          ),
        ),
      )
    : element("span");

const meanColumns = (table, hasTrimmed) => [
  { label: table.by, value: ({ level }) => level, text: (level) => shortText(level, 50) },
  ...(table.within ? [{ label: table.within, value: ({ group }) => group, text: (group) => shortText(group, 40) }] : []),
  ...[
    ["runs", "n"], ["mean", "mean"], ["low", "low"], ["high", "high"],
    ["normalised_low", "normalised_low"], ["normalised_high", "normalised_high"],
    ["minimum", "minimum"], ["maximum", "maximum"],
    ...(hasTrimmed ? [["trimmed_mean", "trimmed"]] : []),
    ["left_out", "n_left_out"], ["units", "n_units"],
  ].map(([label, name]) => ({ label, value: (row) => row[name], text: numberText, numeric: true })),
];

addPanel({
  id: "means",
  title: "Means",
  order: 10,
  async build(body, page) {
    const { view, campaign } = page;
    if (!campaign.tables.length) return false;
    const [legend, place, notes, target] = [0, 1, 2, 3].map(() => element("div"));
    body.append(legend, place, notes, target);
    const figure = new PointFigure(place, page);
    page.means = figure;
    const show = latest(async (isLatest) => {
      const table = await campaign.table(view.get("by"), view.get("within"));
      const metric = campaign.metric(view.get("metric"));
      if (!isLatest() || !table || !metric) return;
      const { means, bounds } = table;
      const rows = means.where((row) => means.at("metric", row) === metric.name);
      const limits = bounds.where((row) => bounds.at("metric", row) === metric.name);
      const heading = `${metricText(metric.name)} by ${table.by}${table.within ? `, coloured by ${table.within}` : ""}`;
      document.getElementById("means-title").replaceChildren(element("bdi", {}, heading));
      legend.replaceChildren(groupLegend(table));
      const isNumeric = table.levels.length > 1 && table.levels.every((level) => campaign.numberOf(table.by, level) !== null);
      const drawn = isNumeric
        ? curvesFigure(rows, table, metric, (level) => campaign.numberOf(table.by, level))
        : rowsFigure(rows, limits, table, metric);
      const shown = view.get("axis") === "linear" ? drawn : logarithmic(drawn, isNumeric ? "y" : "x");
      await figure.draw({ ...shown, label: `${heading}; the numbers are in the table below` });
      notes.replaceChildren(...table.notes.filter((note) => note.endsWith(` ${metric.name}`)).map((note) => element("p", { class: "note" }, note)));
      const unbound = limits.map((row) => ({ ...row, group: "", level: `${row.level} (${row.bound})` }));
      page.meansTable = new SortedTable(target, {
        caption: `Means with ${Math.round(100 * campaign.content.confidence)} % intervals${metric.unit ? `, in ${metric.unit}` : ""}`,
        columns: meanColumns(table, means.has("trimmed")),
        rows: [...rows, ...unbound],
        csvName: `${metric.name}.csv`,
      });
    });
    view.on("metric by within axis", show);
    await show();
  },
});

// A piece of work of which only the newest call may show what it found.
const latest = (work) => {
  let n = 0;
  let last = Promise.resolve();
  return () => {
    const mine = ++n;
    last = last.then(() => (mine === n ? work(() => mine === n) : undefined));
    return last;
  };
};
