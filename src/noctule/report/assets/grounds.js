// What hosts did besides running jobs: power states fill the ground of a Gantt chart, and what
// came from outside (windows, failures) is hatched over it.

// Fills let any theme shine through, and stand back behind jobs.
const GROUND_SHARE = 0.45;
const GROUND_COLOURS = { asleep: "#7c88a6", "switching on": "#e6a117", "switching off": "#b5679a" };
const HATCHES = {
  maintenance: ["right_diagonal_line", "#7f7f7f"],
  reservation: ["dot", "#b34700"],
  unavailable: ["left_diagonal_line", "#7f7f7f"],
  failed: ["diagonal_cross", "#b34700"],
};

// Rectangles with the columns of a run's jobs, each on one interval of hosts.
class Grounds {
  constructor(told, columns) {
    this.nJobs = columns.begin.length;
    this.kinds = told.kinds;
    this.kind = Uint8Array.from(columns.kind);
    this.names = columns.name;
    this.start = columns.begin;
    this.end = columns.end;
    this.boxOffset = Uint32Array.from({ length: this.nJobs + 1 }, (_, row) => row);
    this.boxFirst = Uint32Array.from(columns.first);
    this.boxEnd = Uint32Array.from(columns.behind);
  }

  static async load(told, store) {
    const numbers = ["kind", "begin", "end", "first", "behind"];
    const decoded = await Promise.all(numbers.map((name) => store.numbers(told[name])));
    const columns = Object.fromEntries(numbers.map((name, i) => [name, decoded[i]]));
    return new Grounds(told, { ...columns, name: await store.codes(told.name) });
  }

  // Those of some kinds, by themselves.
  of(kinds) {
    const rows = [...this.kind.keys()].filter((row) => this.kinds[this.kind[row]] in kinds);
    const chosen = (column) => rows.map((row) => column[row]);
    const columns = { kind: chosen(this.kind), begin: chosen(this.start), end: chosen(this.end) };
    const hosts = { first: chosen(this.boxFirst), behind: chosen(this.boxEnd) };
    const name = { words: this.names.words, codes: chosen(this.names.codes) };
    return new Grounds({ kinds: this.kinds }, { ...columns, ...hosts, name });
  }

  // As `colouringOf` tells it of jobs.
  colouring() {
    const palette = this.kinds.map((kind) => GROUND_COLOURS[kind] ?? HATCHES[kind][1]);
    const patterns = this.kinds.map((kind) => HATCHES[kind]?.[0] ?? null);
    return { palette, patterns, code: this.kind, share: GROUND_SHARE };
  }

  facts(row) {
    const name = this.names.words[this.names.codes[row]];
    const what = this.kinds[this.kind[row]];
    const hosts = `${this.boxFirst[row]}-${this.boxEnd[row] - 1}`;
    return [
      ["hosts", hosts],
      ["what", name ? `${what}: ${name}` : what],
      ["from", dateText(this.start[row])],
      ["to", Number.isFinite(this.end[row]) ? dateText(this.end[row]) : "the end"],
    ];
  }
}

const NO_GROUNDS = new Grounds(
  { kinds: [] },
  { kind: [], begin: [], end: [], first: [], behind: [], name: { words: [], codes: [] } },
);

// Lines of a legend for what is on the ground of some runs: texts, and classes of their swatches.
const groundLegend = (runs) => {
  const kinds = new Set(runs.flatMap((run) => run.grounds.kinds));
  return Object.keys({ ...GROUND_COLOURS, ...HATCHES }).filter((kind) => kinds.has(kind));
};
