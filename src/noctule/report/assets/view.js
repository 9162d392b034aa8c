// What is looked at: the period, the runs, the colouring, the chosen job and user, the theme.
// It stands in the address of the page, so that a link shows the same view.

// What is visible along an axis, in several figures: each has a range of BokehJS that follows.
class SharedRange {
  constructor(start, end, changed) {
    this.start = start;
    this.end = end;
    this.changed = changed;
    this.followers = [];
  }

  set(start, end) {
    if (!(Number.isFinite(start) && end > start)) return;
    if (start === this.start && end === this.end) return;
    [this.start, this.end] = [start, end];
    for (const range of this.followers) range.setv({ start, end });
    this.changed();
  }

  zoom(factor, centre, [least, most] = [-Infinity, Infinity]) {
    const start = centre - (centre - this.start) * factor;
    const end = centre + (this.end - centre) * factor;
    this.set(Math.max(start, least), Math.min(end, most));
  }

  follower() {
    const range = new Bokeh.Range1d({ start: this.start, end: this.end });
    range.change.connect(() => this.set(range.start, range.end));
    this.followers.push(range);
    return range;
  }
}

// Calls back after changes of: range, hosts, runs, colour, job, user, brush, theme, layout, data.
class View extends ViewState {
  constructor(runs) {
    super({
      runs: runs.map((run) => run.index),
      colour: runs.some((run) => run.nBoxes > MANY_BOXES) ? "wait" : "job",
      job: null,
      user: null,
      brush: null,
      layout: "stacked",
    });
    this.runs = runs;
    this.full = fullSpan(runs);
    this.range = new SharedRange(...this.full, () => this.emit("range"));
    this.hostRanges = new Map();
    this.usualColour = this.values.colour;
  }

  get shownRuns() {
    return this.runs.filter((run) => this.values.runs.includes(run.index));
  }

  // The visible period.
  get period() {
    return [this.range.start, this.range.end];
  }

  // The period that numbers are about: the brushed one, or else the visible one.
  get chosenPeriod() {
    return this.values.brush ?? this.period;
  }

  show(from, to) {
    this.range.set(from, to);
  }

  // Runs on the same number of hosts share what is visible of them.
  hostRange(run) {
    if (!this.hostRanges.has(run.nHosts)) {
      this.hostRanges.set(run.nHosts, new SharedRange(0, run.nHosts, () => this.emit("hosts")));
    }
    return this.hostRanges.get(run.nHosts);
  }

  reset() {
    this.show(...this.full);
    for (const [n, range] of this.hostRanges) range.set(0, n);
  }

  zoom(factor, centre = (this.range.start + this.range.end) / 2) {
    this.range.zoom(factor, centre);
  }

  address() {
    return addressOf(this);
  }

  applyAddress(text) {
    applyAddress(this, text);
  }

  pan(share) {
    const { start, end } = this.range;
    const way = share * (end - start);
    this.show(start + way, end + way);
  }

  // Up or down by a share of the visible hosts, no further than there are any; tells whether it did.
  panHosts(share) {
    let hasMoved = false;
    for (const [n, { start, end }] of this.hostRanges) {
      const way = Math.max(-start, Math.min(share * (end - start), n - end));
      if (way === 0) continue;
      this.hostRanges.get(n).set(start + way, end + way);
      hasMoved = true;
    }
    return hasMoved;
  }
}

const MANY_BOXES = 20000;
const LAYOUTS = ["stacked", "columns"];

// From the first submission to the last end; what still runs reaches a little beyond.
const fullSpan = (runs) => {
  const from = Math.min(...runs.map((run) => run.span[0]));
  const to = Math.max(...runs.map((run) => run.span[1]), from);
  const stillRuns = runs.some((run) => run.end.includes(Infinity));
  return [from, to > from ? to + (stillRuns ? 0.04 * (to - from) : 0) : from + 1];
};

// ------------------------------------------------------------------ the address

const addressOf = (view) => {
  const parts = new URLSearchParams();
  const put = (name, value, usual) => {
    if (String(value) !== String(usual)) parts.set(name, value);
  };
  const rounded = (pair) => pair.map((value) => Number(value.toPrecision(12))).join("~");
  put("t", rounded(view.period), rounded(view.full));
  for (const [n, range] of view.hostRanges) {
    put(`h${n}`, rounded([range.start, range.end]), rounded([0, n]));
  }
  put("runs", view.get("runs").join("."), view.runs.map((run) => run.index).join("."));
  put("colour", view.get("colour"), view.usualColour);
  if (view.get("brush")) put("brush", rounded(view.get("brush")));
  if (view.get("job") !== null) put("job", view.get("job"));
  if (view.get("user") !== null) put("user", view.get("user"));
  put("layout", view.get("layout"), "stacked");
  put("theme", view.get("theme"), "auto");
  return parts.toString();
};

const applyAddress = (view, text) => {
  const parts = new URLSearchParams(text);
  const pair = (name) => {
    const numbers = (parts.get(name) ?? "").split("~").map(Number);
    return numbers.length === 2 && numbers.every(Number.isFinite) && numbers[0] < numbers[1]
      ? numbers
      : null;
  };
  const oneOf = (name, known, usual) => (known.includes(parts.get(name)) ? parts.get(name) : usual);
  view.show(...(pair("t") ?? view.full));
  for (const [n, range] of view.hostRanges) {
    range.set(...(pair(`h${n}`) ?? [0, n]));
  }
  const indices = (parts.get("runs") ?? "").split(".").map(Number);
  const shown = view.runs.map((run) => run.index).filter((index) => indices.includes(index));
  view.set("runs", parts.has("runs") && shown.length ? shown : view.runs.map((run) => run.index));
  view.set("colour", oneOf("colour", COLOURINGS.map(([name]) => name), view.usualColour));
  view.set("brush", pair("brush"));
  view.set("job", parts.get("job"));
  view.set("user", parts.get("user"));
  view.set("layout", oneOf("layout", LAYOUTS, "stacked"));
  view.set("theme", oneOf("theme", THEMES, "auto"));
};
