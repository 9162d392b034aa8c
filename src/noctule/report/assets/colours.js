// Colours: of the page as its style tells them, of runs, and of jobs by what they should show.

// Okabe and Ito's, then some that lie between them; all readers can tell the first eight apart.
const RUN_COLOURS = [
  "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5ca8", "#8c6d31",
];
const JOB_COLOURS = [
  "#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#5b7fc7", "#b5a33a",
  "#3fa7a0", "#c2714f", "#8a9bd1", "#a8608f", "#6f9f4c", "#d9a35f",
];
const STATE_COLOURS = {
  waiting: "#999999", running: "#56b4e9", completed: "#0072b2", timed_out: "#e69f00",
  killed: "#d55e00", failed: "#cc79a7", rejected: "#777777", cancelled: "#aaaaaa",
};
const OTHERS = "#9a9a9a";
// viridis, without its darkest end
const WAIT_COLOURS = [
  "#443983", "#31688e", "#21918c", "#35b779", "#90d743", "#fde725",
];
const WAIT_LIMITS = [MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY];
const WAIT_LABELS = ["under 1 min", "under 10 min", "under 1 h", "under 6 h", "under 1 day", "longer"];

const COLOURINGS = [
  ["job", "job"],
  ["user", "user"],
  ["group", "group"],
  ["queue", "queue"],
  ["state", "state"],
  ["wait", "waiting time"],
  ["profile", "profile"],
  ["use", "nothing: share in use"],
];

const rgbOf = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

const cssValue = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const runColour = (run) => RUN_COLOURS[run.index % RUN_COLOURS.length];

// How the jobs of a run are coloured: a palette, the place in it of each row, and a legend, which
// is that of all runs of the page. Jobs of others than the chosen user are grey.
const colouringOf = async (run, view) => {
  const kind = view.get("colour");
  const made = await (PAINTERS[kind] ?? ((some, runs) => byWords(some, runs, kind)))(run, view.runs);
  const user = view.get("user");
  if (user === null || !run.has("user")) return made;
  const { words, codes } = await run.words("user");
  const chosen = words.indexOf(user);
  const grey = made.palette.length;
  return {
    ...made,
    palette: [...made.palette, OTHERS],
    code: made.code.map((code, row) => (codes[row] === chosen ? code : grey)),
    faded: grey,
  };
};

const PAINTERS = {
  job: async (run) => ({
    palette: JOB_COLOURS,
    // neighbours in time get different colours, and a job the same one in all runs
    code: Uint8Array.from({ length: run.nJobs }, (_, row) => (row * 5) % JOB_COLOURS.length),
    legend: [],
  }),
  use: async (run) => ({ palette: ["#0072b2"], code: new Uint8Array(run.nJobs), legend: [] }),
  state: async (run, runs) => ({
    palette: run.states.map((state) => STATE_COLOURS[state]),
    code: run.state,
    legend: run.states
      .filter((state, i) => runs.some((some) => some.state.includes(i)))
      .map((state) => [state.replace("_", " "), STATE_COLOURS[state]]),
  }),
  wait: async (run) => ({
    palette: WAIT_COLOURS,
    code: Uint8Array.from({ length: run.nJobs }, (_, row) => {
      const wait = run.wait(row);
      const place = WAIT_LIMITS.findIndex((limit) => wait < limit);
      return place < 0 ? WAIT_LIMITS.length : place;
    }),
    legend: WAIT_LABELS.map((label, i) => [label, WAIT_COLOURS[i]]),
  }),
};

// those that all readers can tell apart
const N_WORDS = 8;

// The words of most host-seconds in all runs get colours of their own; all others share one.
const byWords = async (run, runs, name) => {
  if (!run.has(name)) return PAINTERS.use(run);
  const ranked = await rankedWords(runs, name);
  const rank = new Map(ranked.slice(0, N_WORDS).map((word, i) => [word, i]));
  const { words, codes } = await run.words(name);
  const place = [...words, null].map((word) => rank.get(word) ?? N_WORDS);
  const legend = [...rank].map(([word, i]) => [shortText(word, 24), JOB_COLOURS[i]]);
  if (ranked.length > N_WORDS) legend.push([countText(ranked.length - N_WORDS, "other"), OTHERS]);
  return {
    palette: [...JOB_COLOURS.slice(0, N_WORDS), OTHERS],
    code: Uint8Array.from(codes, (code) => place[code]),
    legend,
  };
};

const rankedWords = (runs, name) =>
  runs[0].remembered(`ranked ${name}`, async () => {
    const used = new Map();
    for (const run of runs.filter((some) => some.has(name))) {
      const { words, codes } = await run.words(name);
      const seconds = new Float64Array(words.length + 1);
      codes.forEach((code, row) => {
        const runtime = run.finish[row] - run.start[row];
        if (runtime > 0) seconds[code] += runtime * run.held[row];
      });
      words.forEach((word, i) => used.set(word, (used.get(word) ?? 0) + seconds[i]));
    }
    return [...used.keys()].sort((a, b) => used.get(b) - used.get(a));
  });
