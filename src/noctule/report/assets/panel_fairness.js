// Who used how much: share against use by user, group or queue, and the Lorenz curve of it.

const FAIRNESS_LABELS = ["user", "group", "queue"];

// The parties of a run in a window, [{run, name, nJobs, hostSeconds, use, share, wait, slowdown}].
// `shares`, {by, of}, tells what parties are entitled to, in numbers of any sum; else all have the same.
const partiesOf = async (run, by, window, shares) => {
  const { words, codes } = await run.words(by);
  const n = words.length + 1; // the last one is nobody
  const [jobs, ended, held, waits, slowdowns] = [0, 1, 2, 3, 4].map(() => new Float64Array(n));
  const present = new Uint8Array(n);
  const [from, to] = window;
  for (let i = 0; i < run.nJobs; i++) {
    const code = codes[i];
    present[code] = 1;
    held[code] += heldIn(run, i, window);
    if (!(run.submit[i] >= from && run.submit[i] <= to)) continue;
    jobs[code]++;
    if (!ENDED.has(run.states[run.state[i]])) continue;
    ended[code]++;
    waits[code] += run.wait(i);
    slowdowns[code] += boundedSlowdown(run, i);
  }
  const codesShown = [...present.keys()].filter((code) => present[code]);
  const whole = held.reduce((a, b) => a + b, 0);
  const given = shares?.by === by ? new Map(Object.entries(shares.of)) : null;
  const entitled = codesShown.map((code) => (given ? given.get(words[code]) ?? 0 : 1));
  const all = entitled.reduce((a, b) => a + b, 0);
  return codesShown.map((code, i) => ({
    run,
    name: words[code] ?? null,
    nJobs: jobs[code],
    hostSeconds: held[code],
    use: whole > 0 ? held[code] / whole : NaN,
    share: all > 0 ? entitled[i] / all : 0,
    wait: ended[code] ? waits[code] / ended[code] : NaN,
    slowdown: ended[code] ? slowdowns[code] / ended[code] : NaN,
  }));
};

// How many times its share a party used; nothing can be said where it has none.
const useOverShare = ({ use, share }) => (share > 0 ? use / share : NaN);

const giniOf = (values) => {
  const sorted = Float64Array.from(values).sort();
  const n = sorted.length;
  const whole = sorted.reduce((a, b) => a + b, 0);
  if (!(whole > 0)) return NaN;
  const ranked = sorted.reduce((sum, value, i) => sum + (i + 1) * value, 0);
  return Math.max(0, (2 * ranked) / (n * whole) - (n + 1) / n);
};

const jainOf = (values) => {
  const squares = values.reduce((sum, value) => sum + value * value, 0);
  return squares > 0 ? values.reduce((a, b) => a + b, 0) ** 2 / (values.length * squares) : NaN;
};

// ------------------------------------------------------------------ the curve

const drawn = (name, attributes = {}, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

const lorenzPath = (amounts) => {
  const sorted = Float64Array.from(amounts).sort();
  const whole = sorted.reduce((a, b) => a + b, 0);
  const points = ["0,100"];
  let sum = 0;
  sorted.forEach((amount, i) => {
    sum += amount;
    const part = whole > 0 ? sum / whole : (i + 1) / sorted.length;
    points.push(`${((100 * (i + 1)) / sorted.length).toFixed(3)},${(100 - 100 * part).toFixed(3)}`);
  });
  return points.join(" ");
};

// Parties with the least use first along one side, what they have together along the other.
const lorenzCurve = (curves, by) => {
  const frame = drawn("rect", { x: 0, y: 0, width: 100, height: 100, class: "lorenz-frame" });
  const equal = drawn("line", { x1: 0, y1: 100, x2: 100, y2: 0, class: "lorenz-equal" });
  const lines = curves.map(([run, amounts]) =>
    drawn("polyline", { points: lorenzPath(amounts), class: "lorenz-line", stroke: runColour(run) }),
  );
  const label = `Lorenz curve: part of all host-seconds that ${by}s with the least use have together`;
  const picture = drawn("svg", { viewBox: "-21 -3 124 113", class: "lorenz", role: "img", "aria-label": label });
  const text = (x, y, told, anchor) => drawn("text", { x, y, "text-anchor": anchor, class: "lorenz-text" }, told);
  const axes = [text(-2, 4, "100 %", "end"), text(-2, 100, "0 %", "end"), text(100, 108, `100 % of the ${by}s`, "end")];
  picture.append(frame, equal, ...axes, ...lines);
  const caption = element("figcaption", {}, `Part of all use that the ${by}s with the least use have`);
  return element("figure", { class: "lorenz-figure" }, caption, picture);
};

// ------------------------------------------------------------------ the panel

const partyColumns = (by, nRuns) => [
  ...(nRuns > 1 ? [{ label: "run", value: ({ run }) => run.name, text: (name) => shortText(name, 30) }] : []),
  { label: by, value: ({ name }) => name, text: (name) => (name === null ? "–" : shortText(name, 40)) },
  { label: "jobs", value: ({ nJobs }) => nJobs, text: numberText, numeric: true },
  { label: "host_seconds", heading: "host-hours", value: ({ hostSeconds }) => hostSeconds, text: hostHoursText, numeric: true },
  { label: "use", value: ({ use }) => use, text: percentText, numeric: true },
  { label: "share", value: ({ share }) => share, text: percentText, numeric: true },
  { label: "use / share", value: useOverShare, text: numberText, numeric: true },
  { label: "mean_waiting_time", value: ({ wait }) => wait, text: durationText, numeric: true },
  { label: "mean_bounded_slowdown", value: ({ slowdown }) => slowdown, text: numberText, numeric: true },
];

const fairnessRows = (found) =>
  found.map(([run, parties]) => ({
    run,
    n: parties.length,
    giniUse: giniOf(parties.map(({ hostSeconds }) => hostSeconds)),
    giniWait: giniOf(parties.map(({ wait }) => wait).filter((wait) => !Number.isNaN(wait))),
    jainUse: jainOf(parties.map(useOverShare).filter((part) => !Number.isNaN(part))),
    jainSlowdown: jainOf(parties.map(({ slowdown }) => slowdown).filter((s) => !Number.isNaN(s))),
  }));

const FAIRNESS_COLUMNS = [
  { label: "run", value: ({ run }) => run.name, text: (name) => shortText(name, 40) },
  { label: "parties", value: ({ n }) => n, text: numberText, numeric: true },
  { label: "gini_use", value: ({ giniUse }) => giniUse, text: numberText, numeric: true },
  { label: "gini_waiting_time", value: ({ giniWait }) => giniWait, text: numberText, numeric: true },
  { label: "jain_use_over_share", value: ({ jainUse }) => jainUse, text: numberText, numeric: true },
  { label: "jain_bounded_slowdown", value: ({ jainSlowdown }) => jainSlowdown, text: numberText, numeric: true },
];

addPanel({
  id: "fairness",
  title: "Fairness",
  order: 40,
  async build(body, page) {
    const { view } = page;
    const { shares } = page.content;
    const known = FAIRNESS_LABELS.filter((name) => page.runs.some((run) => run.has(name)));
    if (!known.length) return false;
    const choice = element("select", {}, ...known.map((name) => element("option", { value: name }, name)));
    const [curve, numbers, table] = [0, 1, 2].map(() => element("div"));
    body.append(element("label", { class: "field" }, "By ", choice), element("div", { class: "beside" }, curve, numbers), table);
    const show = async () => {
      const by = choice.value;
      const runs = view.shownRuns.filter((run) => run.has(by));
      const found = await Promise.all(
        runs.map(async (run) => [run, await partiesOf(run, by, measuredWindow(run, view), shares)]),
      );
      curve.replaceChildren(lorenzCurve(found.map(([run, all]) => [run, all.map(({ hostSeconds }) => hostSeconds)]), by));
      new SortedTable(numbers, {
        caption: "Gini: 0 is equal; Jain: 1 is equal",
        columns: FAIRNESS_COLUMNS,
        rows: fairnessRows(found),
        csvName: "fairness.csv",
      });
      const columns = partyColumns(by, runs.length);
      new SortedTable(table, {
        caption: shares?.by === by ? `Use by ${by}, and shares as given` : `Use by ${by}; all have the same share`,
        columns,
        rows: found.flatMap(([, parties]) => parties),
        csvName: `${by}s.csv`,
        sort: { column: columns.findIndex(({ label }) => label === "use"), down: true },
        choose: by === "user" ? ({ name }) => name !== null && view.set("user", name) : null,
      });
    };
    choice.addEventListener("change", show);
    view.on("range brush runs data", calmed(400, show));
    await show();
  },
});
