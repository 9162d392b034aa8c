// Step functions of time: what holds from each date up to the next, and its exact means.

class Steps {
  constructor(time, value) {
    this.time = time;
    this.value = value;
    this.area = new Float64Array(time.length);
    for (let i = 1; i < time.length; i++) {
      this.area[i] = this.area[i - 1] + value[i - 1] * (time[i] - time[i - 1]);
    }
  }

  // How many dates are not after a date.
  count(date) {
    let low = 0;
    let high = this.time.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.time[middle] <= date) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  at(date) {
    const i = this.count(date);
    return i ? this.value[i - 1] : 0;
  }

  integral(from, to) {
    return this.areaTo(to) - this.areaTo(from);
  }

  mean(from, to) {
    return to > from ? this.integral(from, to) / (to - from) : NaN;
  }

  areaTo(date) {
    const i = this.count(date);
    return i ? this.area[i - 1] + this.value[i - 1] * (date - this.time[i - 1]) : 0;
  }

  // The steps in a period, from its first to its last date.
  within(from, to) {
    const [a, b] = [this.count(from), this.count(to)];
    const x = [from, ...this.time.subarray(a, b), to];
    const y = [this.at(from), ...this.value.subarray(a, b), this.at(to)];
    return { x, y };
  }

  // Mean, least and largest value in each of n equal parts of a period.
  binned(from, to, n) {
    const [x, mean, least, most] = [0, 1, 2, 3].map(() => new Float64Array(n));
    const width = (to - from) / n;
    let i = this.count(from);
    for (let k = 0; k < n; k++) {
      const [a, b] = [from + k * width, from + (k + 1) * width];
      let low = i ? this.value[i - 1] : 0;
      let high = low;
      for (; i < this.time.length && this.time[i] < b; i++) {
        low = Math.min(low, this.value[i]);
        high = Math.max(high, this.value[i]);
      }
      x[k] = (a + b) / 2;
      mean[k] = this.mean(a, b);
      least[k] = low;
      most[k] = high;
    }
    return { x, mean, least, most };
  }

  largest(from, to) {
    let high = this.at(from);
    for (let i = this.count(from); i < this.time.length && this.time[i] < to; i++) {
      high = Math.max(high, this.value[i]);
    }
    return high;
  }
}

// How many intervals hold at each instant, each by its weight; one without an end stays.
const stepsOf = (begins, ends, weights, most = Infinity) => {
  const time = distinct([begins, ends].map((dates) => dates.filter(Number.isFinite)));
  const change = new Float64Array(time.length);
  for (let i = 0; i < begins.length; i++) {
    if (Number.isNaN(begins[i])) continue;
    const weight = weights ? weights[i] : 1;
    change[placeIn(time, begins[i])] += weight;
    if (Number.isFinite(ends[i])) change[placeIn(time, ends[i])] -= weight;
  }
  let kept = 0;
  let level = 0;
  for (let k = 0; k < time.length; k++) {
    if (change[k] === 0) continue;
    level += change[k];
    time[kept] = time[k];
    change[kept++] = Math.min(level, most);
  }
  return new Steps(time.subarray(0, kept), change.subarray(0, kept));
};

// The different dates of some columns, in order.
const distinct = (columns) => {
  const all = new Float64Array(columns.reduce((n, column) => n + column.length, 0));
  let n = 0;
  for (const column of columns) {
    all.set(column, n);
    n += column.length;
  }
  all.sort();
  let kept = 0;
  for (let k = 0; k < n; k++) if (kept === 0 || all[k] !== all[kept - 1]) all[kept++] = all[k];
  return all.subarray(0, kept);
};

// Where a date is among others that have it.
const placeIn = (dates, date) => {
  let low = 0;
  let high = dates.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (dates[middle] < date) low = middle + 1;
    else high = middle;
  }
  return low;
};

const NEVER_QUEUED = new Set(["rejected", "cancelled"]);

// The series of a run by name: utilisation, queue (jobs), running, power. Null where unknown.
const seriesOf = (run, name) => run.remembered(`series ${name}`, () => SERIES[name](run));

const SERIES = {
  utilisation: async (run) => {
    const busy = stepsOf(run.start, run.end, run.held, run.nHosts);
    return new Steps(busy.time, busy.value.map((value) => value / run.nHosts));
  },
  queue: async (run) => {
    const waited = run.submit.map((date, i) =>
      NEVER_QUEUED.has(run.states[run.state[i]]) ? NaN : date,
    );
    return stepsOf(waited, run.start);
  },
  running: async (run) => stepsOf(run.start, run.end),
  power: async (run) => {
    if (!run.told.power) return null;
    const { time, value } = run.told.power;
    return new Steps(await run.store.numbers(time), await run.store.numbers(value));
  },
};
