// The wait of the chosen job, from its submission to its start, interval by interval.

// The intervals of a run, and where each job's begin; null if there are too many to be told.
const waitIntervals = (run, page) =>
  run.remembered("wait intervals", async () => {
    const told = page.data("wait_intervals")?.[run.index];
    if (!told) return null;
    const { store } = run;
    const [row, begin, end, cause] = await Promise.all([
      store.integers(told.row), store.numbers(told.begin), store.numbers(told.end), store.integers(told.cause),
    ]);
    const first = new Map();
    row.forEach((of, i) => first.has(of) || first.set(of, i));
    return { row, begin, end, cause, first, causes: told.causes };
  });

const intervalsOf = async (run, row, page) => {
  const all = await waitIntervals(run, page);
  const found = [];
  for (let i = all?.first.get(row) ?? Infinity; i < (all?.row.length ?? 0) && all.row[i] === row; i++) {
    found.push({ run, begin: all.begin[i], end: all.end[i], cause: all.causes[all.cause[i]] });
  }
  return found;
};

const tooMany = ({ name }) =>
  `${shortText(name, 40)} has more intervals than a page holds: noctule explain tells those of a job`;

addPanel({
  id: "wait",
  title: "The wait of the chosen job",
  order: 5,
  async build(body, page) {
    const { view, runs } = page;
    const target = element("div");
    const nothing = element("p", {}, "Choose a job to see what it waited for, one interval after the other.");
    body.append(nothing, target);
    const columns = [
      ...(runs.length > 1 ? [{ label: "run", value: ({ run }) => run.name, text: (name) => shortText(name, 40) }] : []),
      { label: "from", value: ({ begin }) => begin, text: dateText, numeric: true },
      { label: "to", value: ({ end }) => end, text: dateText, numeric: true },
      { label: "seconds", heading: "lasted", value: ({ begin, end }) => end - begin, text: durationText, numeric: true },
      { label: "cause", value: ({ cause }) => cause },
    ];
    const show = async () => {
      const id = view.get("job");
      const rows = [];
      for (const run of id === null ? [] : view.shownRuns) {
        const row = (await run.rowOfId()).get(id);
        if (row !== undefined) rows.push(...(await intervalsOf(run, row, page)));
      }
      if (id !== view.get("job")) return;
      nothing.hidden = id !== null;
      target.hidden = id === null;
      const untold = view.shownRuns.filter((run) => !page.data("wait_intervals")?.[run.index]);
      const caption = ["From submission to start", ...untold.map(tooMany)].join(". ");
      new SortedTable(target, { caption, columns, rows, csvName: "wait.csv" });
    };
    view.on("job runs data", show);
    await show();
  },
});
