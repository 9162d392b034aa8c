// Jobs: their facts, in a tip beside the pointer and in a list, and the table of all of them.

// What is told of a job: functions (run, row) => [[name, text], ...], or a promise of it.
const JOB_FACTS = [];

const addJobFacts = (tell) => JOB_FACTS.push(tell);

addJobFacts(async (run, row) => {
  const label = async (name, told) => {
    if (!run.has(name)) return [];
    const { words, codes } = await run.words(name);
    return codes[row] < words.length ? [[told, words[codes[row]]]] : [];
  };
  const walltime = (await run.numbers("walltime"))[row];
  const asked = (await run.numbers("n_hosts"))[row];
  return [
    ...(await label("workload", "workload")),
    ...(await label("user", "user")),
    ...(await label("group", "group")),
    ...(await label("queue", "queue")),
    ["state", run.states[run.state[row]].replace("_", " ")],
    ["hosts", numberText(asked)],
    ["submitted", dateText(run.submit[row])],
    ["waited", durationText(run.wait(row))],
    ["started", dateText(run.start[row])],
    ["finished", dateText(run.finish[row])],
    ["ran", durationText(run.finish[row] - run.start[row])],
    ["walltime", durationText(walltime)],
    ...(await label("profile", "profile")),
  ];
});

const factsOf = async (run, row) => {
  const told = await Promise.all(JOB_FACTS.map((tell) => tell(run, row)));
  return [["job", String((await run.ids())[row])], ...told.flat()];
};

// The chosen job, in all shown runs that have it.
const buildChosenJob = (target, page) => {
  const { view } = page;
  const show = async () => {
    const id = view.get("job");
    if (id === null) {
      target.hidden = true;
      return;
    }
    const cards = [];
    for (const run of view.shownRuns) {
      const row = (await run.rowOfId()).get(id);
      const heading = element("h3", {}, run.name);
      const content =
        row === undefined
          ? element("p", {}, "This run has no such job.")
          : factList([...(await factsOf(run, row)), ["on hosts", run.hostsText(row) || "–"]], 300);
      cards.push(element("div", { class: "card" }, heading, content));
    }
    const close = element(
      "button",
      { type: "button", class: "close", "aria-label": "Close", onclick: () => view.set("job", null) },
      "×",
    );
    const title = element("h2", {}, "Job ", element("bdi", {}, shortText(id, 60)));
    target.replaceChildren(close, title, element("div", { class: "cards" }, ...cards));
    target.hidden = false;
  };
  view.on("job runs", show);
  return show();
};

addPanel({
  id: "jobs",
  title: "Jobs",
  order: 90,
  async build(body, page) {
    const { view } = page;
    const target = element("div");
    let table = null;
    const rows = () => {
      const [from, to] = view.chosenPeriod;
      return view.shownRuns.flatMap((run) => run.rowsIn(from, to).map((row) => ({ run, row })));
    };
    const columns = await jobColumns(page);
    const build = () => {
      table = new SortedTable(target, {
        caption: "Jobs of the chosen period, or else of the visible one",
        columns,
        rows: rows(),
        csvName: "jobs.csv",
        choose: async ({ run, row }) => view.set("job", String((await run.ids())[row])),
      });
    };
    const renew = calmed(400, () => table.setRows(rows()));
    body.append(target);
    build();
    view.on("range brush runs data", renew);
  },
});

const jobColumns = async ({ runs }) => {
  const ids = await Promise.all(runs.map((run) => run.ids()));
  const walltimes = await Promise.all(runs.map((run) => run.numbers("walltime")));
  const asked = await Promise.all(runs.map((run) => run.numbers("n_hosts")));
  const columns = [
    { label: "job", value: ({ run, row }) => ids[run.index][row], text: (id) => shortText(String(id), 40) },
    { label: "state", value: ({ run, row }) => run.states[run.state[row]] },
    { label: "hosts", value: ({ run, row }) => asked[run.index][row], text: numberText, numeric: true },
    { label: "submit_time", value: ({ run, row }) => run.submit[row], text: dateText, numeric: true },
    { label: "start_time", value: ({ run, row }) => run.start[row], text: dateText, numeric: true },
    { label: "finish_time", value: ({ run, row }) => run.finish[row], text: dateText, numeric: true },
    { label: "waiting_time", value: ({ run, row }) => run.wait(row), text: durationText, numeric: true },
    {
      label: "runtime",
      value: ({ run, row }) => run.finish[row] - run.start[row],
      text: durationText,
      numeric: true,
    },
    { label: "walltime", value: ({ run, row }) => walltimes[run.index][row], text: durationText, numeric: true },
  ];
  if (runs.some((run) => run.has("user"))) {
    const users = await Promise.all(runs.map((run) => (run.has("user") ? run.words("user") : null)));
    const value = ({ run, row }) => users[run.index]?.words[users[run.index].codes[row]] ?? null;
    columns.splice(1, 0, { label: "user", value, text: (user) => shortText(user ?? "–", 30) });
  }
  if (runs.length > 1) columns.unshift({ label: "run", value: ({ run }) => run.name });
  return columns;
};
