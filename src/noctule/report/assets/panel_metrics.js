// The metrics of all shown runs side by side, of the period that is looked at.

const measureText = (name) => {
  if (name === "utilisation") return percentText;
  if (name === "throughput") return (perSecond) => withUnit(HOUR * perSecond, "jobs/h");
  if (name === "joules") return (joules) => prefixedText(joules, "J");
  if (name === "mean_power") return (watts) => prefixedText(watts, "W");
  return /makespan|waiting_time|turnaround_time/.test(name) ? durationText : numberText;
};

const differenceText = (share) =>
  Number.isNaN(share) ? "–" : `${share > 0 ? "+" : share < 0 ? "−" : ""}${percentText(Math.abs(share))}`;

// What a run comes to at a glance, beside its name.
const headline = (numbers) =>
  [["utilisation", "utilisation"], ["mean wait", "mean_waiting_time"], ["mean bounded slowdown", "mean_bounded_slowdown"]]
    .map(([told, name]) => `${told} ${measureText(name)(numbers.get(name))}`)
    .join(" · ");

// A table with a row a number and a column a run; with several runs, how far they are from the first.
const measureColumns = (runs) => {
  const columns = [{ label: "metric", value: ({ name }) => name }];
  runs.forEach((run, i) =>
    columns.push({
      label: shortText(run.name, 30),
      value: ({ values }) => values[i],
      shown: ({ name, values }) => measureText(name)(values[i]),
      numeric: true,
    }),
  );
  runs.slice(1).forEach((run, i) =>
    columns.push({
      label: `${shortText(run.name, 30)} / ${shortText(runs[0].name, 30)}`,
      value: ({ values }) => (values[0] ? values[i + 1] / values[0] : NaN),
      text: (ratio) => differenceText(ratio - 1),
      numeric: true,
    }),
  );
  return columns;
};

const measureRows = (found) => {
  const names = [...new Set(found.flatMap((numbers) => [...numbers.keys()]))];
  return names.map((name) => ({ name, values: found.map((numbers) => numbers.get(name) ?? NaN) }));
};

addPanel({
  id: "metrics",
  title: "Metrics",
  order: 10,
  async build(body, page) {
    const { view } = page;
    const about = element("p", { role: "status" });
    const target = element("div");
    body.append(about, target);
    const show = async () => {
      const runs = view.shownRuns;
      const found = await Promise.all(runs.map((run) => measured(run, measuredWindow(run, view))));
      runs.forEach((run, i) => (page.gantts[run.index].headline.textContent = headline(found[i])));
      about.textContent = describedWindow(page);
      new SortedTable(target, {
        caption: "Metrics, one column a run",
        columns: measureColumns(runs),
        rows: measureRows(found),
        csvName: "metrics.csv",
        pageLength: 60,
      });
    };
    view.on("range brush runs data", calmed(400, show));
    await show();
  },
});
