// The metrics of all shown runs side by side, of the period that is looked at.

const measureText = (name) => {
  if (name === "utilisation") return percentText;
  return /makespan|waiting_time|turnaround_time/.test(name) ? durationText : numberText;
};

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
      text: (ratio) => (Number.isNaN(ratio) ? "–" : `${(100 * (ratio - 1)).toFixed(1)} %`),
      numeric: true,
    }),
  );
  return columns;
};

const measureRows = async (runs, view) => {
  const found = await Promise.all(runs.map((run) => measured(run, measuredWindow(run, view))));
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
      const rows = await measureRows(runs, view);
      about.textContent = `Jobs submitted in ${describedWindow(page)}, and hosts meanwhile.`;
      new SortedTable(target, {
        caption: "Metrics, one column a run",
        columns: measureColumns(runs),
        rows,
        csvName: "metrics.csv",
        pageLength: 60,
      });
    };
    view.on("range brush runs data", calmed(400, show));
    await show();
  },
});
