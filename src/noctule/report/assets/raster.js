// A Gantt chart by pixel: how full each cell is, and of which colours, exactly.
// Jobs on hosts do not overlap, so that the work is bounded by cells and boxes together.

class Raster {
  // `area`: {from, to, low, high}, the dates and hosts that width x height cells show.
  constructor(area, width, height) {
    this.area = area;
    this.width = width;
    this.height = height;
    // four numbers a cell: how full it is, and red, green and blue by as much
    this.sums = new Float32Array(4 * width * height);
  }

  // Add all boxes of a job; a share below 1 lets the ground shine through.
  add(run, row, [red, green, blue], share = 1) {
    const { area, width, height } = this;
    const wide = width / (area.to - area.from);
    const high = height / (area.high - area.low);
    this.left = Math.max(0, (run.start[row] - area.from) * wide);
    this.right = Math.min(width, (run.end[row] - area.from) * wide);
    if (!(this.left < this.right)) return;
    this.colour(red, green, blue);
    // intervals of hosts that fall into one row of cells are summed up before they are entered
    let line = -1;
    let part = 0;
    const last = run.boxOffset[row + 1];
    this.share = share;
    for (let box = run.boxOffset[row]; box < last; box++) {
      const bottom = Math.max(0, (run.boxFirst[box] - area.low) * high);
      const top = Math.min(height, (run.boxEnd[box] - area.low) * high);
      if (!(bottom < top)) continue;
      const end = Math.ceil(top) - 1;
      for (let y = Math.floor(bottom); y <= end; y++) {
        if (y !== line) {
          if (part > 0) this.fill(line, part);
          line = y;
          part = 0;
        }
        part += Math.min(top, y + 1) - Math.max(bottom, y);
      }
    }
    if (part > 0) this.fill(line, part);
  }

  colour(red, green, blue) {
    this.red = red;
    this.green = green;
    this.blue = blue;
  }

  // Enter a part of a row of cells, from the left to the right of the current job.
  fill(line, hosts) {
    const { left, right } = this;
    const part = hosts * this.share;
    const first = Math.floor(left);
    const last = Math.ceil(right) - 1;
    const cell = 4 * (line * this.width + first);
    if (first === last) {
      this.enter(cell, 1, part * (right - left));
      return;
    }
    this.enter(cell, 1, part * (first + 1 - left));
    this.enter(cell + 4, last - first - 1, part);
    this.enter(cell + 4 * (last - first), 1, part * (right - last));
  }

  // Add the same amount of the current colour to some cells.
  enter(cell, n, amount) {
    const { sums } = this;
    const red = amount * this.red;
    const green = amount * this.green;
    const blue = amount * this.blue;
    for (const end = cell + 4 * n; cell < end; cell += 4) {
      sums[cell] += amount;
      sums[cell + 1] += red;
      sums[cell + 2] += green;
      sums[cell + 3] += blue;
    }
  }

  // How full each cell is.
  shares() {
    return Array.from({ length: this.width * this.height }, (_, cell) => this.sums[4 * cell]);
  }

  // Pixels with the mean colour of what is in them, as opaque as they are full.
  pixels() {
    const { sums } = this;
    const pixels = new Uint32Array(this.width * this.height);
    for (let cell = 0, at = 0; cell < pixels.length; cell++, at += 4) {
      const share = sums[at];
      if (share <= 0) continue;
      const opaque = share < 1 ? Math.round(255 * share) : 255;
      const red = sums[at + 1] / share;
      const green = sums[at + 2] / share;
      const blue = sums[at + 3] / share;
      pixels[cell] = ((opaque << 24) | (blue << 16) | (green << 8) | red) >>> 0;
    }
    return pixels;
  }
}

// Rows of a run of which a box may be visible, and how many boxes they have.
const visibleRows = (run, { from, to }) => {
  const rows = new Uint32Array(run.nJobs);
  let n = 0;
  let nBoxes = 0;
  for (let row = 0; row < run.nJobs; row++) {
    if (run.start[row] < to && run.end[row] > from) {
      rows[n++] = row;
      nBoxes += run.boxOffset[row + 1] - run.boxOffset[row];
    }
  }
  return { rows: rows.subarray(0, n), nBoxes };
};

const FRAME = 10; // milliseconds of work between which the browser may draw and listen

const pause = () => new Promise((resume) => setTimeout(resume));

// Fill a raster with some jobs, bit by bit.
const fillRaster = async (raster, run, rows, { palette, code, share }) => {
  const colours = palette.map(rgbOf);
  let until = performance.now() + FRAME;
  for (let k = 0; k < rows.length; k++) {
    raster.add(run, rows[k], colours[code[rows[k]]], share);
    if ((k & 255) === 255 && performance.now() > until) {
      await pause();
      until = performance.now() + FRAME;
    }
  }
};
