// Figures of BokehJS with one look, one axis of time, and one way to brush a period.

const { ndarray } = Bokeh.require("core/util/ndarray");
Bokeh.require("core/logging").logger.set_level("warn");

// BokehJS gives each part of a plot an element, and a new style to it at every paint: the browser
// finds out the styles of all elements anew, several times a frame. Here these elements are empty,
// and only those of axes take room.
const { RendererView } = Bokeh.require("models/renderers/renderer");
const placeElement = RendererView.prototype.update_position;
RendererView.prototype.update_position = function () {
  const { width, height } = this.bbox ?? {};
  const place = `${width} ${height}`;
  if (this.panel == null || place === this.lastPlace) return;
  this.lastPlace = place;
  placeElement.call(this);
};

// Axes take the room that they are given: BokehJS would measure all texts at every paint, and lay
// the plot out anew where one is wider than before.
class SteadyAxisView extends Bokeh.LinearAxis.prototype.default_view {
  get_size() {
    return this.panel.is_horizontal ? { width: 0, height: 30 } : { width: 70, height: 0 };
  }
}

class SteadyAxis extends Bokeh.LinearAxis {
  static {
    this.prototype.default_view = SteadyAxisView;
  }
}

const TIME_STEPS = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900,
  1800, 3600, 7200, 10800, 21600, 43200, DAY, 2 * DAY, 5 * DAY, 7 * DAY, 14 * DAY, 28 * DAY,
  50 * DAY, 100 * DAY, 200 * DAY, 500 * DAY, 1000 * DAY,
];

class TimeTicker extends Bokeh.AdaptiveTicker {
  get_interval(low, high, desired) {
    const ideal = (high - low) / desired;
    const step = TIME_STEPS.find((some) => some >= ideal);
    return step ?? 10 ** Math.ceil(Math.log10(ideal / DAY)) * DAY;
  }
}

class TimeFormatter extends Bokeh.TickFormatter {
  doFormat(ticks) {
    const step = ticks.length > 1 ? ticks[1] - ticks[0] : 1;
    return ticks.map((tick) => tickText(tick, step));
  }
}

class CountFormatter extends Bokeh.TickFormatter {
  doFormat(ticks) {
    return ticks.map((tick) => shortCount(tick));
  }
}

class PercentFormatter extends Bokeh.TickFormatter {
  doFormat(ticks) {
    return ticks.map((tick) => `${Math.round(100 * tick)} %`);
  }
}

const shortCount = (value) => {
  const size = Math.abs(value);
  if (size >= 1e9) return `${plainNumber.format(value / 1e9)} G`;
  if (size >= 1e6) return `${plainNumber.format(value / 1e6)} M`;
  if (size >= 1e4) return `${plainNumber.format(value / 1e3)} k`;
  return plainNumber.format(value);
};

class Figures {
  constructor(view) {
    this.view = view;
    this.all = [];
    view.on("theme", () => this.all.forEach((figure) => this.dress(figure)));
    view.on("brush", () => this.all.forEach((figure) => this.markBrush(figure)));
    this.movePointer = throttled(16, () => {
      for (const { pointer } of this.all) {
        pointer.setv({ visible: this.pointed !== null, location: this.pointed ?? 0 });
      }
    });
  }

  // One line at the date under the pointer, in all figures.
  point(date) {
    this.pointed = date;
    this.movePointer();
  }

  // A figure over time for an element; `yRange` and `formatter` are those of its other axis.
  // Glyphs are added to its plot before it is shown: BokehJS builds later ones in the background.
  make(element, { height, yRange, yLabel, formatter, whole = false, yPan = false }) {
    const plot = new Bokeh.Plot({
      x_range: this.view.range.follower(),
      y_range: yRange,
      height,
      sizing_mode: "stretch_width",
      toolbar_location: null,
      min_border_left: 76,
      min_border_right: 14,
      min_border_top: 6,
      min_border_bottom: 4,
      lod_threshold: null,
      // else BokehJS paints once more, half a second after each paint
      lod_interval: 0,
    });
    const xAxis = new SteadyAxis({ ticker: new TimeTicker(), formatter: new TimeFormatter() });
    const yAxis = new SteadyAxis({ axis_label: yLabel, formatter });
    yAxis.ticker.desired_num_ticks = Math.max(2, Math.round(height / 60));
    if (whole) yAxis.ticker.min_interval = 1;
    plot.add_layout(xAxis, "below");
    plot.add_layout(yAxis, "left");
    const grid = new Bokeh.Grid({ axis: yAxis, dimension: 1 });
    plot.add_layout(grid, "center");
    const brushed = new Bokeh.BoxAnnotation({ visible: false, level: "overlay" });
    plot.add_layout(brushed, "center");
    const pointer = new Bokeh.Span({ dimension: "height", visible: false, level: "overlay" });
    plot.add_layout(pointer, "center");
    const pan = new Bokeh.PanTool({ dimensions: yPan ? "both" : "width" });
    const brush = new Bokeh.BoxSelectTool({ dimensions: "width", renderers: [] });
    plot.add_tools(pan, brush);
    plot.toolbar.active_drag = pan;
    plot.on_event("selectiongeometry", ({ geometry, final }) => {
      if (final && geometry.type === "rect") {
        this.view.set("brush", [geometry.x0, geometry.x1].sort((a, b) => a - b));
      }
    });
    plot.on_event("doubletap", () => this.view.reset());
    plot.on_event("mousemove", ({ x }) => this.point(x));
    plot.on_event("mouseleave", () => this.point(null));
    const figure = { plot, xAxis, yAxis, grid, brushed, pointer, pan, brush, element, view: null };
    this.dress(figure);
    this.markBrush(figure);
    this.all.push(figure);
    return figure;
  }

  async show(figure) {
    fitTicks(figure);
    figure.view = await shownPlot(figure.plot, figure.element);
    new ResizeObserver(() => fitTicks(figure)).observe(figure.element);
  }

  // Drag to pan, or to brush.
  drag(name) {
    for (const figure of this.all) figure[name].active = true;
  }

  dress({ plot, xAxis, yAxis, grid, brushed, pointer }) {
    dressPlot(plot, [xAxis, yAxis], [grid]);
    pointer.setv({ line_color: cssValue("--ink-soft"), line_alpha: 0.5, line_width: 1 });
    const accent = cssValue("--accent");
    brushed.setv({ fill_color: accent, fill_alpha: 0.12, line_color: accent, line_alpha: 0.7 });
  }

  markBrush({ brushed }) {
    const brush = this.view.get("brush");
    if (brush === null) brushed.setv({ visible: false });
    else brushed.setv({ visible: true, left: brush[0], right: brush[1] });
  }
}

// Pages have keys of their own, and no use for the focus that BokehJS gives to plots.
const shownPlot = async (plot, target) => {
  const view = await Bokeh.Plotting.show(plot, target);
  view.canvas_view.events_el.removeAttribute("tabindex");
  return view;
};

// As many dates along a figure as have room side by side.
const fitTicks = ({ xAxis, element }) => {
  xAxis.ticker.desired_num_ticks = Math.max(2, Math.floor(element.clientWidth / 90));
};

// The look of all plots, as the style of the page has it.
const dressPlot = (plot, axes, grids) => {
  const [ink, line, soft, ground] = ["--ink-soft", "--line", "--grid", "--figure"].map(cssValue);
  const size = cssValue("--axis-text");
  plot.setv({
    background_fill_color: ground,
    border_fill_color: null,
    outline_line_color: null,
  });
  for (const axis of axes) {
    axis.setv({
      axis_line_color: line,
      major_tick_line_color: line,
      minor_tick_line_color: null,
      major_label_text_color: ink,
      major_label_text_font: FONT,
      major_label_text_font_size: size,
      axis_label_text_color: ink,
      axis_label_text_font: FONT,
      axis_label_text_font_size: size,
      axis_label_text_font_style: "normal",
      major_tick_in: 0,
    });
  }
  for (const grid of grids) grid.setv({ grid_line_color: soft });
};

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif';

// Calls a function soon, and not more often than every `pause` milliseconds; the last call counts.
const throttled = (pause, work) => {
  let timer = null;
  let last = 0;
  return () => {
    if (timer !== null) return;
    const left = Math.max(0, last + pause - performance.now());
    timer = setTimeout(() => {
      timer = null;
      requestAnimationFrame(() => {
        last = performance.now();
        work();
      });
    }, left);
  };
};

// Calls a function once nothing has asked for it for some milliseconds.
const calmed = (pause, work) => {
  let timer = null;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, pause);
  };
};
