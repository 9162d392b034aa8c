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

const cssColour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const runColour = (run) => RUN_COLOURS[run.index % RUN_COLOURS.length];

// How the jobs of a run are coloured: a palette, the place in it of each row, and a legend.
// Jobs of others than the chosen user are grey.
const colouringOf = async (run, view) => {
  const kind = view.get("colour");
  const made = await (PAINTERS[kind] ?? ((some) => byWords(some, kind)))(run);
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
  state: async (run) => ({
    palette: run.states.map((state) => STATE_COLOURS[state]),
    code: run.state,
    legend: run.states
      .filter((state, i) => run.state.includes(i))
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

const N_LEGEND = 8;

// The words of most host-seconds get colours of their own and a line in the legend.
const byWords = async (run, name) => {
  if (!run.has(name)) return PAINTERS.use(run);
  const { words, codes } = await run.words(name);
  const used = new Float64Array(words.length + 1);
  codes.forEach((code, row) => {
    const runtime = run.finish[row] - run.start[row];
    if (runtime > 0) used[code] += runtime * run.held[row];
  });
  const order = words.map((_, i) => i).sort((a, b) => used[b] - used[a] || a - b);
  const place = new Uint8Array(words.length + 1).fill(JOB_COLOURS.length);
  order.forEach((word, rank) => {
    place[word] = rank % JOB_COLOURS.length;
  });
  const legend = order
    .slice(0, N_LEGEND)
    .map((word, rank) => [shortText(words[word], 24), JOB_COLOURS[rank]]);
  if (words.length > N_LEGEND) legend.push([`and ${words.length - N_LEGEND} more`, null]);
  return {
    palette: [...JOB_COLOURS, OTHERS],
    code: Uint8Array.from(codes, (code) => place[code]),
    legend,
  };
};
