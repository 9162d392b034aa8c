// Columns of the page: from base64, gzip and planes of bytes back to numbers and texts.

const bytesOfBase64 = (text) => {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
};

const inflated = async (text) => {
  const stream = new Blob([bytesOfBase64(text)]).stream();
  const plain = stream.pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
};

// A place that gives packed texts by their keys; here, elements of the page.
const textOfElement = (key) => document.getElementById(`column-${key}`).textContent;

class ColumnStore {
  constructor(textOf = textOfElement) {
    this.textOf = textOf;
    this.decoded = new Map();
  }

  bytes(key) {
    if (!this.decoded.has(key)) this.decoded.set(key, inflated(this.textOf(key)));
    return this.decoded.get(key);
  }

  // Whole numbers, as doubles.
  async integers(packed) {
    const bytes = await this.bytes(packed.key);
    const { n, planes, delta } = packed;
    const values = new Float64Array(n);
    let sum = 0;
    for (let i = 0; i < n; i++) {
      let low = bytes[i];
      let high = 0;
      if (planes > 1) low |= bytes[n + i] << 8;
      if (planes > 2) low |= bytes[2 * n + i] << 16;
      if (planes > 3) low = (low | (bytes[3 * n + i] << 24)) >>> 0;
      for (let p = planes - 1; p > 3; p--) high = high * 256 + bytes[p * n + i];
      const folded = high * 4294967296 + low;
      const value = low & 1 ? -(folded + 1) / 2 : folded / 2;
      values[i] = delta ? (sum += value) : value;
    }
    return values;
  }

  // Numbers in units of 1 / scale, told from `base` (in the same units) where there is one.
  async units(packed, base) {
    if (packed.doubles) return this.doubles(packed);
    const values = await this.integers(packed);
    const at = async (name) => (packed[name] ? this.integers(packed[name]) : []);
    if (base) for (let i = 0; i < values.length; i++) if (base[i] === base[i]) values[i] += base[i];
    for (const i of await at("missing")) values[i] = NaN;
    for (const i of await at("infinite")) values[i] = Infinity;
    return values;
  }

  async doubles(packed) {
    const bytes = await this.bytes(packed.key);
    const { n } = packed;
    const joined = new Uint8Array(8 * n);
    for (let p = 0; p < 8; p++) for (let i = 0; i < n; i++) joined[8 * i + p] = bytes[p * n + i];
    return new Float64Array(joined.buffer);
  }

  async numbers(packed, base) {
    const units = await this.units(packed, base);
    return scaled(units, packed.scale ?? 1);
  }

  async strings(packed) {
    return JSON.parse(new TextDecoder().decode(await this.bytes(packed.key)));
  }

  // Texts of which many are equal; the code words.length stands for nothing.
  async codes(packed) {
    const [words, codes] = await Promise.all([
      this.strings(packed.words),
      this.integers(packed.codes),
    ]);
    return { words, codes: Uint32Array.from(codes) };
  }
}

const scaled = (units, scale) => (scale === 1 ? units : units.map((value) => value / scale));
