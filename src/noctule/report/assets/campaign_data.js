// The results of a campaign: tables whose columns are decoded when they are asked for.

// Columns of one length, numbers or texts; a row is told by its place.
class PackedTable {
  constructor(told, store) {
    this.n = told.n;
    this.told = told.columns;
    this.store = store;
    this.columns = {};
  }

  has(name) {
    return name in this.told;
  }

  async load(names = Object.keys(this.told)) {
    const decoded = await Promise.all(names.map((name) => this.decoded(this.told[name])));
    names.forEach((name, i) => (this.columns[name] = decoded[i]));
    return this;
  }

  async decoded(packed) {
    if (!packed.words) return this.store.numbers(packed);
    const { words, codes } = await this.store.codes(packed);
    return Array.from(codes, (code) => words[code] ?? null);
  }

  at(name, row) {
    return this.columns[name][row];
  }

  // The rows for which something holds, as objects with all columns that are loaded.
  where(holds) {
    const found = [];
    for (let row = 0; row < this.n; row++) if (holds(row)) found.push(this.row(row));
    return found;
  }

  row(row) {
    return Object.fromEntries(Object.entries(this.columns).map(([name, column]) => [name, column[row]]));
  }
}

class Campaign {
  constructor(content, store) {
    this.content = content;
    this.metrics = content.metrics;
    this.parameters = content.parameters;
    this.runs = new PackedTable(content.runs, store);
    this.tables = content.tables.map((told) => ({
      ...told,
      means: new PackedTable(told.means, store),
      comparisons: new PackedTable(told.comparisons, store),
      bounds: new PackedTable(told.bounds, store),
    }));
  }

  metric(name) {
    return this.metrics.find((metric) => metric.name === name);
  }

  // Means and verdicts by a parameter, within another one ("" for none), or null.
  async table(by, within) {
    const found = this.tables.find((table) => table.by === by && table.within === within) ?? null;
    if (found) await Promise.all([found.means.load(), found.comparisons.load(), found.bounds.load()]);
    return found;
  }

  // The parameters by which something can be coloured that is compared by another one.
  groupings(by) {
    return this.tables.filter((table) => table.by === by).map((table) => table.within);
  }

  // The number that a level of a parameter is, or null.
  numberOf(by, level) {
    return this.parameters.find(({ name }) => name === by).numbers?.[level] ?? null;
  }
}

const AXES = ["linear", "logarithmic"];

// What is chosen on the page of a campaign: metric, parameter, colours, the metrics of the front, a filter.
class CampaignView extends ViewState {
  constructor(campaign) {
    const named = (wanted) => campaign.metrics.find(({ name }) => name === wanted) ?? campaign.metrics[0];
    const metric = named("mean_waiting_time")?.name ?? null;
    super({
      metric,
      by: campaign.parameters[0]?.name ?? null,
      within: "",
      axis: AXES[0],
      x: metric,
      y: (campaign.metrics.find(({ name }) => name === "utilisation") ?? campaign.metrics[1] ?? named(metric))?.name ?? null,
      filter: "",
    });
    this.campaign = campaign;
    this.usual = { ...this.values };
  }

  possible(name) {
    if (name === "by") return this.campaign.parameters.map((parameter) => parameter.name);
    if (name === "within") return this.campaign.groupings(this.get("by"));
    if (name === "theme") return THEMES;
    if (name === "axis") return AXES;
    return this.campaign.metrics.map((metric) => metric.name);
  }

  set(name, value) {
    super.set(name, value);
    // colours by what does not go with the parameter are no colours
    if (name === "by" && !this.possible("within").includes(this.get("within"))) super.set("within", "");
  }

  address() {
    const parts = new URLSearchParams();
    for (const [name, value] of Object.entries(this.values)) {
      if (value !== this.usual[name]) parts.set(name, value);
    }
    return parts.toString();
  }

  applyAddress(text) {
    const parts = new URLSearchParams(text);
    for (const name of ["metric", "by", "within", "axis", "x", "y", "theme"]) {
      const told = parts.get(name);
      this.set(name, this.possible(name).includes(told) ? told : this.usual[name]);
    }
    this.set("filter", parts.get("filter") ?? "");
  }
}
