// Numbers as people read them.

const MINUTE = 60;
const HOUR = 3600;
const DAY = 86400;

const twoDigits = (value) => String(value).padStart(2, "0");

const plainNumber = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const wholeNumber = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

// A count, or another number with at most four digits that matter.
const numberText = (value) => {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (Number.isInteger(value) || Math.abs(value) >= 1000) return wholeNumber.format(value);
  if (value !== 0 && Math.abs(value) < 0.01) return value.toPrecision(3);
  return plainNumber.format(value);
};

// A count with its noun.
const countText = (value, noun) => `${wholeNumber.format(value)} ${noun}${value === 1 ? "" : "s"}`;

const percentText = (share) => (Number.isNaN(share) ? "–" : `${(100 * share).toFixed(1)} %`);

const withUnit = (value, unit) => (Number.isNaN(value) ? "–" : `${numberText(value)} ${unit}`);

// A large amount of some unit: 16.95 kW, 11.9 GJ.
const prefixedText = (value, unit) => {
  const [size, prefix] = PREFIXES.find(([least]) => Math.abs(value) >= least) ?? [1, ""];
  return withUnit(value / size, `${prefix}${unit}`);
};

const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

// Seconds of a stretch of time: 42 s, 3 min 20 s, 5 h 02 min, 3 d 4 h.
const durationText = (seconds) => {
  if (seconds === null || Number.isNaN(seconds)) return "–";
  if (!Number.isFinite(seconds)) return "∞";
  if (seconds < 0) return `−${durationText(-seconds)}`;
  if (seconds < MINUTE) return `${plainNumber.format(seconds)} s`;
  const whole = Math.round(seconds);
  if (whole < HOUR) return `${Math.floor(whole / MINUTE)} min ${twoDigits(whole % MINUTE)} s`;
  const minutes = Math.round(whole / MINUTE);
  if (whole < DAY) return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} min`;
  const hours = Math.round(whole / HOUR);
  return `${wholeNumber.format(Math.floor(hours / 24))} d ${hours % 24} h`;
};

// A date of the simulation: days since its beginning, and a time of day.
const dateText = (seconds) => {
  if (!Number.isFinite(seconds)) return "–";
  const day = Math.floor(seconds / DAY);
  const rest = seconds - day * DAY;
  const hour = Math.floor(rest / HOUR);
  const minute = Math.floor((rest % HOUR) / MINUTE);
  const second = rest % MINUTE;
  const fraction = Number.isInteger(second) ? "" : second.toFixed(3).slice(second < 10 ? 1 : 2);
  return `day ${day} ${twoDigits(hour)}:${twoDigits(minute)}:${twoDigits(Math.floor(second))}${fraction}`;
};

// Ticks of an axis of time: as much of the date as their distance needs.
const tickText = (seconds, step) => {
  const day = Math.floor(seconds / DAY);
  const rest = seconds - day * DAY;
  if (step >= DAY) return `day ${wholeNumber.format(day)}`;
  const hour = twoDigits(Math.floor(rest / HOUR));
  const minute = twoDigits(Math.floor((rest % HOUR) / MINUTE));
  if (rest === 0) return `day ${wholeNumber.format(day)}`;
  if (step >= MINUTE) return `${hour}:${minute}`;
  const second = rest % MINUTE;
  const told = step >= 1 ? twoDigits(Math.round(second)) : second.toFixed(3).padStart(6, "0");
  return `${hour}:${minute}:${told}`;
};

const shortText = (text, length = 60) => {
  const letters = Array.from(text);
  return letters.length <= length ? text : `${letters.slice(0, length - 1).join("")}…`;
};
