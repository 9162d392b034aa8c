// Figures of points with intervals, lines and bands between two axes; pointing at one tells its facts.

class NamesFormatter extends Bokeh.TickFormatter {
  doFormat(ticks) {
    return ticks.map((tick) => this.names?.get(tick) ?? "");
  }
}

class NumberFormatter extends Bokeh.TickFormatter {
  doFormat(ticks) {
    return ticks.map((tick) => (Math.abs(tick) >= 1e4 ? shortCount(tick) : String(Number(tick.toPrecision(6)))));
  }
}

const NEAR = 14;

class PointFigure {
  constructor(target, page) {
    this.target = target;
    this.page = page;
    this.figure = null;
    page.figures.all.push(this);
    page.view.on("theme", () => this.dress());
    target.addEventListener("mouseleave", () => page.tip.hide());
  }

  // For the theme, which draws all views anew before a page is printed.
  get view() {
    return this.figure?.view ?? null;
  }

  // `points`: [{x, y, colour, facts, marker?, isHollow?}]; `segments`: [{x0, y0, x1, y1, colour, width, alpha}];
  // `lines`: [{xs, ys, colour, dash?}]; `bands`: [{xs, lows, highs, colour}]; an axis: {label, names?, values?, isLog?}.
  async draw({ points, segments = [], lines = [], bands = [], xAxis, yAxis, height, label }) {
    const former = this.figure;
    this.points = points;
    const scaleOf = ({ isLog }) => (isLog ? new Bokeh.LogScale() : new Bokeh.LinearScale());
    const ends = (first, second) => segments.flatMap((one) => [one[first], one[second]]);
    const plot = new Bokeh.Plot({
      x_range: rangeAround([...points.map(({ x }) => x), ...ends("x0", "x1")], xAxis),
      y_range: rangeAround([...points.map(({ y }) => y), ...ends("y0", "y1"), ...bands.flatMap(({ lows, highs }) => [...lows, ...highs])], yAxis),
      x_scale: scaleOf(xAxis),
      y_scale: scaleOf(yAxis),
      height,
      sizing_mode: "stretch_width",
      toolbar_location: null,
      min_border_right: 20,
      min_border_top: 6,
      lod_threshold: null,
    });
    const axes = [axisOf(xAxis), axisOf(yAxis)];
    plot.add_layout(axes[0], "below");
    plot.add_layout(axes[1], "left");
    const grids = axes.map((axis, dimension) => new Bokeh.Grid({ axis, dimension }));
    grids.forEach((grid) => plot.add_layout(grid, "center"));
    this.figure = { plot, axes, grids, view: null };
    this.addGlyphs({ points, segments, lines, bands });
    this.dress();
    plot.on_event("mousemove", ({ sx, sy }) => this.point(sx, sy));
    const place = element("div", { class: "figure-body", role: "img", "aria-label": label });
    const view = await shownPlot(plot, onPage(place, this.target));
    this.figure.view = view;
    former?.view?.remove();
    for (const child of [...this.target.children]) if (child !== place) child.remove();
  }

  addGlyphs({ points, segments, lines, bands }) {
    const { plot } = this.figure;
    for (const { xs, lows, highs, colour } of bands) {
      const source = new Bokeh.ColumnDataSource({ data: { x: xs, y1: lows, y2: highs } });
      const fields = { x: { field: "x" }, y1: { field: "y1" }, y2: { field: "y2" } };
      plot.add_glyph(new Bokeh.VArea({ ...fields, fill_color: colour, fill_alpha: 0.16 }), source);
    }
    for (const { xs, ys, colour, dash = [] } of lines) {
      const source = new Bokeh.ColumnDataSource({ data: { x: xs, y: ys } });
      const look = { line_color: colour, line_width: 1.8, line_dash: dash };
      plot.add_glyph(new Bokeh.Line({ x: { field: "x" }, y: { field: "y" }, ...look }), source);
    }
    const column = (rows, name) => rows.map((row) => row[name]);
    const data = (rows, names) => new Bokeh.ColumnDataSource({ data: Object.fromEntries(names.map((n) => [n, column(rows, n)])) });
    const ends = ["x0", "y0", "x1", "y1"];
    const fields = (names) => Object.fromEntries(names.map((name) => [name, { field: name }]));
    plot.add_glyph(
      new Bokeh.Segment({
        ...fields(ends), line_color: { field: "colour" }, line_width: { field: "width" }, line_alpha: { field: "alpha" }, line_cap: "butt",
      }),
      data(segments, [...ends, "colour", "width", "alpha"]),
    );
    const dots = points.map((one) => ({ marker: "circle", ...one, fill: one.isHollow ? null : one.colour }));
    this.dots = plot.add_glyph(
      new Bokeh.Scatter({
        ...fields(["x", "y", "marker"]), size: 9, fill_color: { field: "fill" }, line_color: { field: "colour" }, line_width: 1.5,
      }),
      data(dots, ["x", "y", "marker", "fill", "colour"]),
    );
    const marked = new Bokeh.ColumnDataSource({ data: { x: [], y: [] } });
    this.ring = plot.add_glyph(
      new Bokeh.Scatter({ ...fields(["x", "y"]), size: 17, fill_color: null, line_width: 2 }), marked,
    );
    this.marked = marked;
  }

  dress() {
    if (!this.figure) return;
    const { plot, axes, grids } = this.figure;
    dressPlot(plot, axes, grids);
    this.ring.glyph.line_color = cssValue("--ink");
  }

  // Where a point is, in pixels of the figure.
  placeOf({ x, y }) {
    const { x_scale, y_scale } = this.figure.view.frame;
    return [x_scale.compute(x), y_scale.compute(y)];
  }

  // Tell the facts of the point next to the pointer.
  point(sx, sy) {
    if (!this.figure.view) return;
    let nearest = null;
    let least = NEAR;
    for (const point of this.points) {
      const [px, py] = this.placeOf(point);
      const distance = Math.hypot(px - sx, py - sy);
      if (distance < least) [nearest, least] = [point, distance];
    }
    this.marked.data = nearest ? { x: [nearest.x], y: [nearest.y] } : { x: [], y: [] };
    if (nearest) this.page.tip.showFacts(nearest.facts, this.target, sx, sy);
    else this.page.tip.hide();
  }
}

// BokehJS draws into what is on the page already.
const onPage = (place, target) => {
  target.append(place);
  return place;
};

const rangeAround = (values, { names, isLog = false }) => {
  const known = values.filter((value) => Number.isFinite(value) && (!isLog || value > 0));
  if (names) return new Bokeh.Range1d({ start: names.size - 0.4, end: -0.6 });
  const [least, most] = known.length ? [Math.min(...known), Math.max(...known)] : [0, 1];
  if (isLog) return new Bokeh.Range1d({ start: least / 1.15, end: most * 1.15 });
  const margin = most > least ? 0.06 * (most - least) : Math.max(0.1 * Math.abs(most), 1e-9);
  return new Bokeh.Range1d({ start: least - margin, end: most + margin });
};

const axisOf = ({ label = "", names = null, values = null, isLog = false }) => {
  const formatter = names ? new NamesFormatter() : new NumberFormatter();
  if (names) formatter.names = names;
  // a label in dollars would be taken for a formula
  const Axis = isLog ? Bokeh.LogAxis : Bokeh.LinearAxis;
  const axis = new Axis({ axis_label: new Bokeh.PlainText({ text: label }), formatter });
  if (names || values) axis.ticker = new Bokeh.FixedTicker({ ticks: values ?? [...names.keys()] });
  else axis.ticker.desired_num_ticks = 6;
  return axis;
};
