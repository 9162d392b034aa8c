// Two runs job by job: who starts, waits and ends how much earlier or later, and the largest movers.

const N_MOVERS = 20;

// Rows of each job, by workload and id where a run has several workloads.
const rowsByName = (run) =>
  run.remembered("rows by name", async () => {
    const ids = await run.ids();
    const workloads = run.has("workload") ? await run.words("workload") : null;
    const rows = new Map();
    for (let i = 0; i < run.nJobs; i++) {
      const id = String(ids[i]);
      rows.set(workloads ? `${workloads.words[workloads.codes[i]]}!${id}` : id, i);
    }
    return rows;
  });

const differencesOf = async (one, other) => {
  const [before, after] = await Promise.all([rowsByName(one), rowsByName(other)]);
  const found = [];
  let alone = 0;
  for (const [name, row] of before) {
    const there = after.get(name);
    if (there === undefined) {
      alone++;
      continue;
    }
    found.push({
      name,
      row,
      there,
      start: other.start[there] - one.start[row],
      wait: other.wait(there) - one.wait(row),
      end: other.finish[there] - one.finish[row],
    });
  }
  return { found, onlyInOne: alone, onlyInOther: after.size - found.length };
};

const signedText = (seconds) =>
  Number.isNaN(seconds) ? "–" : seconds > 0 ? `+${durationText(seconds)}` : durationText(seconds);

const differenceColumns = () => [
  { label: "job", value: ({ name }) => name, text: (name) => shortText(name, 40) },
  { label: "start_difference", value: ({ start }) => start, text: signedText, numeric: true },
  { label: "wait_difference", value: ({ wait }) => wait, text: signedText, numeric: true },
  { label: "finish_difference", value: ({ end }) => end, text: signedText, numeric: true },
];

const moverColumns = (one, other, causes) => [
  ...differenceColumns(),
  ...[[one, "row"], [other, "there"]].map(([run, place], i) => ({
    label: `waited in ${shortText(run.name, 30)}`,
    value: (mover) => causeTexts(causes[i] ?? [], mover[place]).join(", "),
    text: (told) => told || "–",
    wraps: true,
  })),
];

addPanel({
  id: "movers",
  title: "Differences, job by job",
  order: 50,
  async build(body, page) {
    const { view, runs } = page;
    if (runs.length < 2) return false;
    const options = () => runs.map((run) => element("option", { value: run.index }, shortText(run.name, 40)));
    const [from, to] = [element("select", {}, ...options()), element("select", {}, ...options())];
    to.value = "1";
    const about = element("p", { role: "status" });
    const [movers, all] = [element("div"), element("div")];
    const controls = element(
      "div",
      { class: "choices" },
      element("label", { class: "field" }, "From ", from),
      element("label", { class: "field" }, "to ", to),
    );
    body.append(controls, about, movers, all);
    const show = async () => {
      const [one, other] = [runs[Number(from.value)], runs[Number(to.value)]];
      const { found, onlyInOne, onlyInOther } = await differencesOf(one, other);
      const moved = found.filter(({ wait }) => wait !== 0 && !Number.isNaN(wait));
      moved.sort((a, b) => Math.abs(b.wait) - Math.abs(a.wait));
      about.textContent =
        `${numberText(found.length)} jobs are in both runs, ${numberText(moved.length)} of them wait longer or shorter; ` +
        `${numberText(onlyInOne)} are only in the first, ${numberText(onlyInOther)} only in the second.`;
      const causes = await Promise.all([one, other].map(waitCauses));
      const choose = async ({ row }) => view.set("job", String((await one.ids())[row]));
      new SortedTable(movers, {
        caption: `The ${N_MOVERS} jobs whose wait differs most`,
        columns: moverColumns(one, other, causes),
        rows: moved.slice(0, N_MOVERS),
        csvName: "movers.csv",
        choose,
      });
      new SortedTable(all, {
        caption: "All jobs of both runs; positive differences are later",
        columns: differenceColumns(),
        rows: found,
        csvName: "differences.csv",
        pageLength: 10,
        choose,
      });
    };
    from.addEventListener("change", show);
    to.addEventListener("change", show);
    view.on("data", show);
    await show();
  },
});
