// Two metrics at once: the means of levels, and the front of those that no other beats in both.

// The points than which none is better in one metric and as good in the other, the best of x first.
const paretoFront = (points, x, y) => {
  const sign = (metric) => (metric.better === "larger" ? -1 : 1);
  const [sx, sy] = [sign(x), sign(y)];
  const sorted = [...points].sort((a, b) => sx * (a.x - b.x) || sy * (a.y - b.y));
  const front = [];
  let least = Infinity;
  for (const point of sorted) {
    if (sy * point.y < least) {
      front.push(point);
      least = sy * point.y;
    }
  }
  return front;
};

const meansBetween = (table, x, y) => {
  const { means } = table;
  const of = (metric) => {
    const rows = means.where((row) => means.at("metric", row) === metric.name);
    return new Map(rows.map((row) => [JSON.stringify([row.level, row.group]), row]));
  };
  const [xs, ys] = [of(x), of(y)];
  return [...xs]
    .filter(([key]) => ys.has(key))
    .map(([key, row]) => ({ level: row.level, group: row.group, x: row.mean, y: ys.get(key).mean }))
    .filter(({ x: one, y: other }) => Number.isFinite(one) && Number.isFinite(other));
};

const frontColumns = (table, x, y) => [
  { label: table.by, value: ({ level }) => level, text: (level) => shortText(level, 50) },
  ...(table.within ? [{ label: table.within, value: ({ group }) => group, text: (group) => shortText(group, 40) }] : []),
  { label: x.name, value: (point) => point.x, text: numberText, numeric: true },
  { label: y.name, value: (point) => point.y, text: numberText, numeric: true },
  { label: "on the front", value: ({ isOnFront }) => (isOnFront ? "yes" : "no") },
];

const preferred = ({ better }) => (better === null ? "neither is better" : `${better} is better`);

addPanel({
  id: "front",
  title: "Trade-off",
  order: 30,
  async build(body, page) {
    const { view, campaign } = page;
    if (!campaign.tables.length || campaign.metrics.length < 2) return false;
    const choices = element("div", { class: "choices" });
    const [legend, place, target] = [0, 1, 2].map(() => element("div"));
    body.append(choices, legend, place, target);
    for (const [name, label] of [["x", "Across "], ["y", "Upwards "]]) {
      choices.append(element("label", { class: "field" }, label, choiceOf(view, name, metricText)));
    }
    const figure = new PointFigure(place, page);
    page.front = figure;
    const show = latest(async (isLatest) => {
      const table = await campaign.table(view.get("by"), view.get("within"));
      const [x, y] = ["x", "y"].map((name) => campaign.metric(view.get(name)));
      if (!isLatest() || !table || !x || !y) return;
      const points = meansBetween(table, x, y);
      const front = paretoFront(points, x, y);
      const [inX, inY] = [axisUnit(x, points.map((one) => one.x)), axisUnit(y, points.map((one) => one.y))];
      const rows = points.map((point) => ({ ...point, isOnFront: front.includes(point) }));
      legend.replaceChildren(groupLegend(table));
      const colour = (point) => (table.within ? groupColour(table.groups, point.group) : RUN_COLOURS[0]);
      await figure.draw({
        points: rows.map((point) => ({
          x: point.x / inX.per, y: point.y / inY.per, colour: colour(point), isHollow: !point.isOnFront,
          facts: [
            [table.by, point.level],
            ...(table.within ? [[table.within, point.group]] : []),
            [metricText(x.name), metricValue(x, point.x)],
            [metricText(y.name), metricValue(y, point.y)],
            ["on the front", point.isOnFront ? "yes" : "no"],
          ],
        })),
        lines: front.length > 1 ? [{ xs: front.map((one) => one.x / inX.per), ys: front.map((one) => one.y / inY.per), colour: OTHERS, dash: [6, 4] }] : [],
        xAxis: { label: `${inX.label}: ${preferred(x)}` },
        yAxis: { label: `${inY.label}: ${preferred(y)}` },
        height: 380,
        label: `${metricText(y.name)} against ${metricText(x.name)}; the numbers are in the table below`,
      });
      page.frontTable = new SortedTable(target, {
        caption: "Means of both; full dots are on the front: no other is better in one and as good in the other",
        columns: frontColumns(table, x, y),
        rows,
        csvName: "front.csv",
        pageLength: 10,
      });
    });
    view.on("by within x y", show);
    await show();
  },
});
