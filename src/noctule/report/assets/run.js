// A run: its columns as typed arrays, its boxes on the Gantt chart, what was where and when.

class Run {
  constructor(index, told, store, states) {
    this.index = index;
    this.told = told;
    this.store = store;
    this.states = states;
    this.name = told.name;
    this.nHosts = told.n_hosts;
    this.nJobs = told.n_jobs;
    this.span = told.span;
    this.cache = new Map();
  }

  // What every picture needs; other columns are decoded when somebody asks.
  async load() {
    [this.submit, this.start, this.finish] = await Promise.all(
      ["submit", "start", "finish"].map((name) => this.numbers(name)),
    );
    const [held, state] = await Promise.all([this.numbers("held"), this.numbers("state")]);
    this.held = Uint32Array.from(held);
    this.state = Uint8Array.from(state);
    // a job that was running when the run was stopped goes on for ever in pictures
    this.end = this.finish.map((date, i) =>
      Number.isNaN(date) && !Number.isNaN(this.start[i]) ? Infinity : date,
    );
    await this.loadHosts();
    const { grounds } = this.told;
    this.grounds = grounds ? await Grounds.load(grounds, this.store) : NO_GROUNDS;
    return this;
  }

  async loadHosts() {
    const columns = this.told.columns;
    const [counts, gaps, sizes] = await Promise.all(
      ["intervals", "interval_gap", "interval_size"].map((n) => this.store.integers(columns[n])),
    );
    // the boxes of job i are those from boxOffset[i] up to boxOffset[i + 1]
    this.boxOffset = new Uint32Array(this.nJobs + 1);
    for (let i = 0; i < this.nJobs; i++) this.boxOffset[i + 1] = this.boxOffset[i] + counts[i];
    const n = sizes.length;
    this.boxFirst = new Uint32Array(n);
    this.boxEnd = new Uint32Array(n);
    let last = 0;
    for (let b = 0; b < n; b++) {
      this.boxFirst[b] = last + gaps[b];
      this.boxEnd[b] = this.boxFirst[b] + sizes[b];
      last = this.boxEnd[b] - 1;
    }
  }

  has(name) {
    return name in this.told.columns;
  }

  remembered(name, make) {
    if (!this.cache.has(name)) this.cache.set(name, make());
    return this.cache.get(name);
  }

  units(name) {
    return this.remembered(`units ${name}`, async () => {
      const packed = this.told.columns[name];
      const base = packed.base ? await this.units(packed.base) : null;
      return this.store.units(packed, base);
    });
  }

  // A column of numbers: submit, start, finish, walltime, n_hosts, held, state, energy.
  numbers(name) {
    return this.remembered(name, async () =>
      scaled(await this.units(name), this.told.columns[name].scale ?? 1),
    );
  }

  // A column of words, {words, codes}: user, group, queue, profile, workload.
  words(name) {
    return this.remembered(name, () => this.store.codes(this.told.columns[name]));
  }

  // The ids of all jobs, numbers or texts.
  ids() {
    const packed = this.told.columns.job_id;
    return this.remembered("job_id", () =>
      packed.strings ? this.store.strings(packed) : this.store.integers(packed),
    );
  }

  // The row of each id, as text.
  rowOfId() {
    return this.remembered("row of id", async () => {
      const rows = new Map();
      (await this.ids()).forEach((id, row) => rows.set(String(id), row));
      return rows;
    });
  }

  get nBoxes() {
    return this.boxFirst.length;
  }

  wait(row) {
    return this.start[row] - this.submit[row];
  }

  // The row of the job that holds a host at a date; -1 if none does.
  jobAt(time, host) {
    return rowAt(this, time, host);
  }

  // Rows of the jobs of which something lies in a period: they wait or run in it.
  rowsIn(from, to) {
    const rows = [];
    for (let i = 0; i < this.nJobs; i++) {
      const gone = Number.isNaN(this.end[i]) ? this.submit[i] : this.end[i];
      if (this.submit[i] <= to && gone >= from) rows.push(i);
    }
    return rows;
  }

  hostsText(row) {
    const parts = [];
    for (let b = this.boxOffset[row]; b < this.boxOffset[row + 1]; b++) {
      const [first, last] = [this.boxFirst[b], this.boxEnd[b] - 1];
      parts.push(first === last ? `${first}` : `${first}-${last}`);
    }
    return parts.join(" ");
  }
}

// The first of some rows with boxes that holds a host at a date; -1 if none does.
const rowAt = ({ nJobs, start, end, boxOffset, boxFirst, boxEnd }, time, host) => {
  for (let i = 0; i < nJobs; i++) {
    if (!(start[i] <= time && time < end[i])) continue;
    for (let b = boxOffset[i]; b < boxOffset[i + 1]; b++) {
      if (boxFirst[b] <= host && host < boxEnd[b]) return i;
    }
  }
  return -1;
};
