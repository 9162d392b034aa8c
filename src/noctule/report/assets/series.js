// What happened over time, all runs in one figure: exact steps where they can be seen, else the
// mean of each pixel with the least and the largest value around it.

class SeriesFigure {
  constructor(name, page, { label, formatter, text, whole = false, most = null }) {
    this.name = name;
    this.page = page;
    this.view = page.view;
    this.label = label;
    this.formatter = formatter;
    this.text = text;
    this.whole = whole;
    this.most = most;
    this.yRange = new Bokeh.Range1d({ start: 0, end: most ?? 1 });
    this.lines = [];
    this.redraw = throttled(150, () => this.draw());
  }

  async build(element, height = 132) {
    this.figure = this.page.figures.make(element, {
      height,
      yRange: this.yRange,
      yLabel: this.label,
      formatter: this.formatter,
      whole: this.whole,
    });
    for (const run of this.page.runs) this.lines.push(this.addLine(run));
    const { plot } = this.figure;
    plot.on_event("mousemove", (event) => this.hover(event));
    plot.on_event("mouseleave", () => this.page.tip.hide());
    await this.page.figures.show(this.figure);
    this.view.on("range runs data", this.redraw);
    new ResizeObserver(this.redraw).observe(element);
    await this.draw();
  }

  addLine(run) {
    const { plot } = this.figure;
    const colour = runColour(run);
    const source = (names) =>
      new Bokeh.ColumnDataSource({ data: Object.fromEntries(names.map((name) => [name, []])) });
    const [exact, mean, around] = [["x", "y"], ["x", "y"], ["x", "y1", "y2"]].map(source);
    const place = { x: { field: "x" }, y: { field: "y" } };
    const look = { line_color: colour, line_width: 1.5 };
    plot.add_glyph(
      new Bokeh.VArea({
        x: { field: "x" }, y1: { field: "y1" }, y2: { field: "y2" },
        fill_color: colour, fill_alpha: 0.18,
      }),
      around,
    );
    plot.add_glyph(new Bokeh.Step({ ...place, ...look, mode: "after" }), exact);
    plot.add_glyph(new Bokeh.Line({ ...place, ...look }), mean);
    return { run, exact, mean, around };
  }

  async draw() {
    const width = Math.max(50, Math.round(this.figure.view.frame.bbox.width));
    const [from, to] = this.view.period;
    const shown = new Set(this.view.shownRuns);
    let largest = 0;
    for (const line of this.lines) {
      const steps = shown.has(line.run) ? await seriesOf(line.run, this.name) : null;
      if (steps) largest = Math.max(largest, steps.largest(from, to));
      drawLine(line, steps, from, to, width);
    }
    if (this.most === null) this.yRange.setv({ start: 0, end: largest > 0 ? 1.08 * largest : 1 });
  }

  async hover({ x, sx, sy }) {
    const facts = [["date", dateText(x)]];
    for (const run of this.view.shownRuns) {
      const value = (await seriesOf(run, this.name))?.at(x);
      if (value !== undefined) facts.push([run.name, this.text(value)]);
    }
    this.page.tip.showFacts(facts, this.figure.element, sx, sy);
  }
}

const drawLine = ({ exact, mean, around }, steps, from, to, width) => {
  const nothing = { x: [], y: [] };
  const few = steps && steps.count(to) - steps.count(from) <= 2 * width;
  exact.data = few ? steps.within(from, to) : nothing;
  if (!steps || few) {
    mean.data = nothing;
    around.data = { x: [], y1: [], y2: [] };
    return;
  }
  const bins = steps.binned(from, to, width);
  mean.data = { x: bins.x, y: bins.mean };
  around.data = { x: bins.x, y1: bins.least, y2: bins.most };
};
