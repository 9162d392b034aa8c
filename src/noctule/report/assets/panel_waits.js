// Why jobs waited: the seconds of each cause, of each job and of all of a period.

// Seconds of a run's jobs by cause, [[cause, seconds of each row], ...]; null if they are not told.
const waitCauses = (run) =>
  run.remembered("wait causes", async () => {
    if (!run.waits) return null;
    return Promise.all(run.waits.map(async ([cause, packed]) => [cause, await run.store.numbers(packed)]));
  });

// The causes of a job's wait with their seconds, the longest first.
const causeTexts = (causes, row) =>
  causes
    .map(([cause, seconds]) => [cause, seconds[row]])
    .filter(([, seconds]) => seconds > 0)
    .sort((a, b) => b[1] - a[1])
    .map(([cause, seconds]) => `${cause} ${durationText(seconds)}`);

addJobFacts(async (run, row) => {
  const texts = causeTexts((await waitCauses(run)) ?? [], row);
  return texts.length ? [["waited for", texts]] : [];
});

addPanel({
  id: "waits",
  title: "Why jobs waited",
  order: 25,
  async build(body, page) {
    const { view } = page;
    const known = await Promise.all(page.runs.map(waitCauses));
    if (known.every((causes) => !causes?.length)) return false;
    const target = element("div");
    body.append(
      element(
        "p",
        {},
        "All waits of the jobs that are submitted in the period. ",
        element("code", {}, "noctule explain DIR JOB"),
        " tells when a job waited for what, and for whom.",
      ),
      target,
    );
    const show = async () => {
      const runs = view.shownRuns;
      const sums = runs.map((run) => causeSums(run, known[run.index] ?? [], measuredWindow(run, view)));
      const names = [...new Set(sums.flatMap((sum) => [...sum.keys()]))];
      const wholes = sums.map((sum) => [...sum.values()].reduce((a, b) => a + b, 0));
      new SortedTable(target, {
        caption: "Waiting time by cause, one pair of columns a run",
        columns: [
          { label: "cause", value: (name) => name },
          ...sums.flatMap((sum, i) => shareColumns(runs[i], sum, wholes[i], durationText)),
        ],
        rows: names,
        csvName: "waits.csv",
      });
    };
    view.on("range brush runs data", calmed(400, show));
    await show();
  },
});

const causeSums = (run, causes, [from, to]) => {
  const found = new Map();
  for (const [cause, seconds] of causes) {
    let sum = 0;
    for (let i = 0; i < run.nJobs; i++) {
      if (run.submit[i] >= from && run.submit[i] <= to) sum += seconds[i];
    }
    found.set(cause, sum);
  }
  return found;
};

// The amount of each name for a run, and its share of the whole.
const shareColumns = (run, amounts, whole, text) => [
  { label: shortText(run.name, 30), value: (name) => amounts.get(name) ?? 0, text, numeric: true },
  {
    label: `${shortText(run.name, 30)}, share`,
    value: (name) => (whole > 0 ? (amounts.get(name) ?? 0) / whole : NaN),
    text: percentText,
    numeric: true,
  },
];
