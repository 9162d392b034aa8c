// A Gantt chart by pixel: how full each cell is, and of which colours, exactly.
// Jobs on hosts do not overlap, so that the work is bounded by cells and boxes together.

class Raster {
  constructor(width, height) {
    this.width = width;
    this.height = height;
    this.share = new Float32Array(width * height);
    this.red = new Float32Array(width * height);
    this.green = new Float32Array(width * height);
    this.blue = new Float32Array(width * height);
  }

  // Add the part of a box that lies in the raster; its corners are in cells.
  add(left, right, bottom, top, red, green, blue) {
    const x0 = Math.max(left, 0);
    const x1 = Math.min(right, this.width);
    const y0 = Math.max(bottom, 0);
    const y1 = Math.min(top, this.height);
    if (!(x0 < x1 && y0 < y1)) return;
    const lastColumn = Math.ceil(x1);
    const lastRow = Math.ceil(y1);
    for (let row = Math.floor(y0); row < lastRow; row++) {
      const high = Math.min(y1, row + 1) - Math.max(y0, row);
      for (let column = Math.floor(x0); column < lastColumn; column++) {
        const wide = Math.min(x1, column + 1) - Math.max(x0, column);
        const cell = row * this.width + column;
        const area = high * wide;
        this.share[cell] += area;
        this.red[cell] += area * red;
        this.green[cell] += area * green;
        this.blue[cell] += area * blue;
      }
    }
  }

  // Pixels with the mean colour of what is in them, as opaque as they are full.
  pixels() {
    const pixels = new Uint32Array(this.share.length);
    for (let cell = 0; cell < pixels.length; cell++) {
      const share = this.share[cell];
      if (share <= 0) continue;
      const opaque = Math.min(255, Math.round(255 * Math.min(1, share)));
      const red = this.red[cell] / share;
      const green = this.green[cell] / share;
      const blue = this.blue[cell] / share;
      pixels[cell] = ((opaque << 24) | (blue << 16) | (green << 8) | red) >>> 0;
    }
    return pixels;
  }
}

// Rows of a run of which a box may be visible, and how many boxes they have.
const visibleRows = (run, from, to) => {
  const rows = [];
  let nBoxes = 0;
  for (let i = 0; i < run.nJobs; i++) {
    if (run.start[i] < to && run.end[i] > from) {
      rows.push(i);
      nBoxes += run.boxOffset[i + 1] - run.boxOffset[i];
    }
  }
  return { rows, nBoxes };
};

const rasterOf = (run, rows, area, width, height, colouring) => {
  const { from, to, low, high } = area;
  const raster = new Raster(width, height);
  const [sx, sy] = [width / (to - from), height / (high - low)];
  const palette = colouring.palette.map(rgbOf);
  for (const row of rows) {
    const left = (run.start[row] - from) * sx;
    const right = (Math.min(run.end[row], to) - from) * sx;
    const [red, green, blue] = palette[colouring.code[row]];
    for (let b = run.boxOffset[row]; b < run.boxOffset[row + 1]; b++) {
      const bottom = (run.boxFirst[b] - low) * sy;
      const top = (run.boxEnd[b] - low) * sy;
      raster.add(left, right, bottom, top, red, green, blue);
    }
  }
  return raster;
};
