// The Gantt chart of a run: boxes where there are few, else pixels with their exact shares.

const MAX_BOXES_DRAWN = 1500;
// pixels reach beyond the visible period, so that panning finds something there
const MARGIN = 0.2;
// a view that has not changed for so many milliseconds rests; pictures of it are then exact
const REST = 120;
// how much finer pixels may have to be until they are drawn anew while the view still moves
const COARSE = 4;

class Gantt {
  constructor(run, page) {
    this.run = run;
    this.page = page;
    this.view = page.view;
    const layer = (some) => ({ some, boxes: new Bokeh.ColumnDataSource({ data: emptyBoxes() }) });
    this.jobs = layer(run);
    // what hosts did without jobs lies below them, what happened to hosts is hatched above
    this.ground = layer(run.grounds.of(GROUND_COLOURS));
    this.outside = layer(run.grounds.of(HATCHES));
    this.layers = [this.ground, this.jobs, this.outside];
    this.ground.colouring = this.ground.some.colouring();
    this.outside.colouring = this.outside.some.colouring();
    this.chosen = new Bokeh.ColumnDataSource({ data: emptyCorners() });
    this.waited = new Bokeh.ColumnDataSource({ data: emptyWait() });
    this.image = new Bokeh.ColumnDataSource({ data: emptyImage() });
    this.redraw = calmed(REST, () => this.draw());
    this.refine = throttled(4 * REST, () => this.draw());
  }

  async build(element, height) {
    this.figure = this.page.figures.make(element, {
      height,
      yRange: this.view.hostRange(this.run).follower(),
      yLabel: "host",
      formatter: new CountFormatter(),
      whole: true,
      yPan: true,
    });
    const { plot, grid } = this.figure;
    grid.setv({ grid_line_color: null });
    const corners = ["left", "right", "bottom", "top"];
    const fields = (names) => Object.fromEntries(names.map((name) => [name, { field: name }]));
    plot.add_glyph(new Bokeh.ImageRGBA(fields(["image", "x", "y", "dw", "dh"])), this.image);
    const filled = fields([...corners, "fill_color", "fill_alpha"]);
    plot.add_glyph(new Bokeh.Quad({ ...filled, line_color: null }), this.ground.boxes);
    this.outline = plot.add_glyph(new Bokeh.Quad({ ...filled, line_width: 0.6 }), this.jobs.boxes);
    const [colour, pattern] = [{ field: "fill_color" }, { field: "pattern" }];
    const hatched = { fill_color: null, line_color: colour, hatch_color: colour, hatch_pattern: pattern };
    plot.add_glyph(
      new Bokeh.Quad({ ...fields(corners), ...hatched, hatch_scale: 9, hatch_alpha: 0.8 }),
      this.outside.boxes,
    );
    // a light line around a dark one is seen on any colour
    this.halo = plot.add_glyph(
      new Bokeh.Quad({ ...fields(corners), fill_color: null, line_width: 5 }),
      this.chosen,
    );
    this.mark = plot.add_glyph(
      new Bokeh.Quad({ ...fields(corners), fill_color: null, line_width: 2 }),
      this.chosen,
    );
    this.wait = plot.add_glyph(
      new Bokeh.Segment({ ...fields(["x0", "y0", "x1", "y1"]), line_width: 2, line_dash: [5, 4] }),
      this.waited,
    );
    plot.on_event("mousemove", (event) => this.hover(event));
    plot.on_event("mouseleave", () => this.page.tip.hide());
    plot.on_event("tap", (event) => this.choose(event));
    element.addEventListener("wheel", (event) => this.turnWheel(event), { passive: false });
    this.dress();
    await this.page.figures.show(this.figure);
    this.view.on("range hosts", () => this.follow());
    this.view.on("runs", this.redraw);
    this.view.on("theme", () => this.dress());
    this.view.on("colour user data", () => this.recolour());
    this.view.on("job", () => this.markChosen());
    await this.recolour();
    await this.markChosen();
    new ResizeObserver(this.redraw).observe(element);
  }

  dress() {
    this.outline.glyph.line_color = cssValue("--figure");
    this.halo.glyph.line_color = cssValue("--figure");
    this.mark.glyph.line_color = this.wait.glyph.line_color = cssValue("--ink");
    this.figure.grid.setv({ grid_line_color: null });
  }

  async recolour() {
    this.jobs.colouring = await colouringOf(this.run, this.view);
    await this.draw();
  }

  // Draw what is visible; if that changes meanwhile, draw again.
  async draw() {
    if (this.isDrawing) {
      this.isOutdated = true;
      return;
    }
    this.isDrawing = true;
    do {
      this.isOutdated = false;
      await this.drawOnce();
    } while (this.isOutdated);
    this.isDrawing = false;
  }

  // While the view moves, the last picture is stretched; where it ends, that of all is shown.
  follow() {
    const visible = this.visibleArea();
    const isTold = this.area && reaches(this.area, visible);
    if (!isTold && this.picture?.colouring === this.jobs.colouring) this.showAll();
    else if (!isTold || (!this.isExact && isCoarse(this.area, visible))) this.refine();
    this.redraw();
  }

  visibleArea(margin = 0) {
    const [from, to] = this.view.period;
    const { start: low, end: high } = this.view.hostRange(this.run);
    const more = margin * (to - from);
    return { from: from - more, to: to + more, low, high };
  }

  async drawOnce() {
    const { width, height } = this.figure.view.frame.bbox;
    const isShown = this.view.get("runs").includes(this.run.index);
    const { colouring } = this.jobs;
    if (!(width > 0 && height > 0) || !colouring || !isShown) return;
    const area = this.visibleArea(MARGIN);
    const layers = this.layers.map((layer) => ({ ...layer, ...visibleRows(layer.some, area) }));
    const boxes = layers.map((layer) => boxesIn(layer, area));
    const dense = layers.filter((_, i) => boxes[i] === null);
    const image = dense.length ? await this.imageOf(dense, area, width, height) : emptyImage();
    const picture = { image, boxes, area, colouring };
    if (reaches(area, this.wholeArea())) this.picture = picture;
    this.show(picture);
  }

  async imageOf(layers, area, width, height) {
    // more cells than hosts would only repeat themselves
    const nLines = Math.max(1, Math.min(Math.round(height), Math.ceil(area.high - area.low)));
    const raster = new Raster(area, Math.round(width * (1 + 2 * MARGIN)), nLines);
    for (const { some, rows, colouring } of layers) await fillRaster(raster, some, rows, colouring);
    this.raster = raster;
    return imageData(raster);
  }

  wholeArea() {
    const [from, to] = this.view.full;
    return { from, to, low: 0, high: this.run.nHosts };
  }

  showAll() {
    if (this.area !== this.picture.area) this.show(this.picture);
  }

  show({ image, boxes, area }) {
    this.area = area;
    this.isExact = boxes[1] !== null;
    if (image.image.length || this.image.data.image.length) this.image.data = image;
    this.layers.forEach((layer, i) => {
      const data = boxes[i] ?? emptyBoxes();
      if (data.left.length || layer.boxes.data.left.length) layer.boxes.data = data;
    });
  }

  async markChosen() {
    const id = this.view.get("job");
    const row = id === null ? undefined : (await this.run.rowOfId()).get(id);
    const data = emptyCorners();
    if (row !== undefined && !Number.isNaN(this.run.start[row])) {
      for (let b = this.run.boxOffset[row]; b < this.run.boxOffset[row + 1]; b++) {
        pushBox(data, this.run, row, b, -Infinity, this.view.full[1]);
      }
    }
    this.chosen.data = data;
    const [from, to] = row === undefined ? [NaN, NaN] : [this.run.submit[row], this.run.start[row]];
    const height = data.bottom.length ? (data.bottom[0] + data.top[0]) / 2 : NaN;
    this.waited.data = from < to ? { x0: [from], y0: [height], x1: [to], y1: [height] } : emptyWait();
  }

  // The wheel zooms time; beside the picture, over the axis of hosts, or with Shift, it zooms hosts.
  turnWheel(event) {
    event.preventDefault();
    const { left, top } = this.figure.element.getBoundingClientRect();
    const [sx, sy] = [event.clientX - left, event.clientY - top];
    const { bbox, x_scale: x, y_scale: y } = this.figure.view.frame;
    // browsers turn the wheel sideways with Shift
    const factor = Math.exp(Math.max(-240, Math.min(240, event.deltaY || event.deltaX)) / 480);
    if (!event.shiftKey && Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.view.pan(event.deltaX / bbox.width);
    } else if (sx < bbox.left || event.shiftKey) {
      this.view.hostRange(this.run).zoom(factor, y.invert(sy), [0, this.run.nHosts]);
    } else {
      this.view.zoom(factor, x.invert(sx));
    }
  }

  hover({ x, y, sx, sy }) {
    const row = this.run.jobAt(x, Math.floor(y));
    if (row < 0) this.hoverGround(x, Math.floor(y), sx, sy);
    else this.page.tip.show(`${this.run.index} ${row}`, () => factsOf(this.run, row), this.figure.element, sx, sy);
  }

  hoverGround(time, host, sx, sy) {
    for (const { some } of [this.outside, this.ground]) {
      const row = rowAt(some, time, host);
      if (row < 0) continue;
      this.page.tip.showFacts(some.facts(row), this.figure.element, sx, sy);
      return;
    }
    this.page.tip.hide();
  }

  async choose({ x, y }) {
    const row = this.run.jobAt(x, Math.floor(y));
    this.view.set("job", row < 0 ? null : String((await this.run.ids())[row]));
  }
}

const emptyCorners = () => ({ left: [], right: [], bottom: [], top: [] });
const emptyBoxes = () => ({ ...emptyCorners(), fill_color: [], fill_alpha: [], pattern: [] });
const emptyWait = () => ({ x0: [], y0: [], x1: [], y1: [] });
const emptyImage = () => ({ image: [], x: [], y: [], dw: [], dh: [] });

// The visible boxes of a layer as columns; null if there are too many.
const boxesIn = ({ some, colouring, rows, nBoxes }, { from, to, low, high }) => {
  if (nBoxes > 40 * MAX_BOXES_DRAWN) return null;
  const data = emptyBoxes();
  for (const row of rows) {
    const code = colouring.code[row];
    const opaque = code === colouring.faded ? 0.35 : colouring.share ?? 0.9;
    for (let b = some.boxOffset[row]; b < some.boxOffset[row + 1]; b++) {
      if (some.boxEnd[b] <= low || some.boxFirst[b] >= high) continue;
      if (data.left.length === MAX_BOXES_DRAWN) return null;
      pushBox(data, some, row, b, from, to);
      data.fill_color.push(colouring.palette[code]);
      data.fill_alpha.push(opaque);
      data.pattern.push(colouring.patterns?.[code] ?? null);
    }
  }
  return data;
};

const imageData = (raster) => {
  const { area, width, height } = raster;
  return {
    image: [ndarray(raster.pixels(), { shape: [height, width], dtype: "uint32" })],
    x: [area.from],
    y: [area.low],
    dw: [area.to - area.from],
    dh: [area.high - area.low],
  };
};

const reaches = (area, other) =>
  area.from <= other.from && area.to >= other.to && area.low <= other.low && area.high >= other.high;

const isCoarse = (area, visible) =>
  area.to - area.from > COARSE * (visible.to - visible.from) ||
  area.high - area.low > COARSE * (visible.high - visible.low);

const pushBox = (data, run, row, box, from, to) => {
  data.left.push(Math.max(run.start[row], from));
  data.right.push(Math.min(run.end[row], to));
  data.bottom.push(run.boxFirst[box]);
  data.top.push(run.boxEnd[box]);
};
