// The numbers of noctule.metrics, of the jobs that are submitted in a window and of its hosts.

const THRESHOLD = 10;
const ENDED = new Set(["completed", "timed_out", "killed", "failed"]);
const COUNTED_STATES = [...ENDED, "rejected", "cancelled", "running", "waiting"];
const STATISTICS = [["median", 0.5], ["p90", 0.9], ["p95", 0.95], ["p99", 0.99]];

// The window of a whole run: first submission and latest finish, of ended jobs.
const windowOf = (run) =>
  run.remembered("window", () => {
    let [from, to] = [Infinity, -Infinity];
    for (let i = 0; i < run.nJobs; i++) {
      if (!ENDED.has(run.states[run.state[i]])) continue;
      from = Math.min(from, run.submit[i]);
      to = Math.max(to, run.finish[i]);
    }
    return from <= to ? [from, to] : [NaN, NaN];
  });

// The window that tables are about: what is brushed or visible, or the run if all of it is.
const measuredWindow = (run, view) => {
  const [from, to] = view.chosenPeriod;
  const whole = windowOf(run);
  return view.get("brush") === null && !(from > whole[0]) && !(to < whole[1]) ? whole : [from, to];
};

const describedWindow = (page) => {
  const { view } = page;
  const all = page.runs.every((run) => measuredWindow(run, view) === windowOf(run));
  if (all) return "All jobs, and hosts from the first submission to the last end.";
  const [from, to] = view.chosenPeriod;
  const what = view.get("brush") === null ? "the visible period" : "the chosen period";
  const dates = `${dateText(Math.round(from))} to ${dateText(Math.round(to))}`;
  return `Jobs that were submitted in ${what}, ${dates}, and hosts meanwhile.`;
};

// A position between two values lies on the line between them, as in NumPy.
const percentile = (sorted, share) => {
  const position = share * (sorted.length - 1);
  const below = Math.floor(position);
  const low = sorted[below];
  const high = sorted[Math.min(below + 1, sorted.length - 1)];
  const part = position - below;
  return part >= 0.5 ? high - (high - low) * (1 - part) : low + (high - low) * part;
};

const meanOf = (values) => {
  let [sum, lost] = [0, 0];
  for (const value of values) {
    const next = sum + value;
    lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    sum = next;
  }
  return values.length ? (sum + lost) / values.length : NaN;
};

// Host-seconds that a job holds in a window.
const heldIn = (run, row, [from, to]) => {
  const seconds = Math.min(run.end[row], to) - Math.max(run.start[row], from);
  return seconds > 0 ? seconds * run.held[row] : 0;
};

const boundedSlowdown = (run, row) => {
  const runtime = run.finish[row] - run.start[row];
  return Math.max(1, (run.finish[row] - run.submit[row]) / Math.max(runtime, THRESHOLD));
};

const addFamily = (found, name, values) => {
  const sorted = Float64Array.from(values).sort();
  const n = sorted.length;
  found.set(`mean_${name}`, meanOf(sorted));
  for (const [statistic, share] of STATISTICS) {
    found.set(`${statistic}_${name}`, n ? percentile(sorted, share) : NaN);
  }
  found.set(`max_${name}`, n ? sorted[n - 1] : NaN);
};

// All numbers of a run in a window, by their names.
const measured = async (run, window) => {
  const [from, to] = window;
  const length = Math.max(0, to - from);
  const counts = new Map(COUNTED_STATES.map((state) => [state, 0]));
  const [waits, turnarounds, slowdowns, bounded] = [[], [], [], []];
  let [busy, nFinished, nZero] = [0, 0, 0];
  const whole = window === windowOf(run);
  for (let i = 0; i < run.nJobs; i++) {
    const state = run.states[run.state[i]];
    busy += heldIn(run, i, window);
    if (!ENDED.has(state)) {
      if (whole || (run.submit[i] >= from && run.submit[i] <= to)) counts.set(state, counts.get(state) + 1);
      continue;
    }
    if (run.finish[i] >= from && run.finish[i] <= to) nFinished++;
    if (!(run.submit[i] >= from && run.submit[i] <= to)) continue;
    counts.set(state, counts.get(state) + 1);
    const [turnaround, runtime] = [run.finish[i] - run.submit[i], run.finish[i] - run.start[i]];
    waits.push(run.wait(i));
    turnarounds.push(turnaround);
    bounded.push(boundedSlowdown(run, i));
    if (runtime > 0) slowdowns.push(turnaround / runtime);
    else nZero++;
  }
  const found = new Map();
  found.set("n_jobs", [...counts.values()].reduce((a, b) => a + b, 0));
  found.set("n_ended", waits.length);
  for (const [state, n] of counts) found.set(`n_${state}`, n);
  found.set("n_zero_runtime", nZero);
  const [first, last] = windowOf(run);
  found.set("makespan", last - first);
  found.set("utilisation", length > 0 ? busy / (run.nHosts * length) : NaN);
  found.set("throughput", length > 0 ? nFinished / length : NaN);
  addFamily(found, "waiting_time", waits);
  addFamily(found, "turnaround_time", turnarounds);
  addFamily(found, "slowdown", slowdowns);
  addFamily(found, "bounded_slowdown", bounded);
  const power = await seriesOf(run, "power");
  if (power !== null && length > 0) {
    found.set("joules", power.integral(from, to));
    found.set("mean_power", power.mean(from, to));
  }
  return found;
};
