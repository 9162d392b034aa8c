// Tables that sort, page and give themselves as CSV; all cells are texts, never markup.

const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
};

const PAGE_LENGTH = 25;

// `columns`: [{label, value: (row) => any, text?: (value) => string, numeric?: bool, wraps?: bool}];
// `shown` tells the text of a row instead, where its value is not enough, and `heading` what stands
// above a column whose texts are in another unit than its values.
// `exported` are the columns of the CSV, if they are others.
// `rows`: anything that `value` takes. `choose(row)` is called for the row that is clicked.
class SortedTable {
  constructor(target, { caption, columns, exported = columns, rows, csvName, choose = null, sort = null, pageLength = PAGE_LENGTH }) {
    this.columns = columns;
    this.exported = exported;
    this.choose = choose;
    this.csvName = csvName;
    this.pageLength = pageLength;
    this.sort = sort ?? { column: -1, down: false };
    this.first = 0;
    this.head = element("thead");
    this.body = element("tbody");
    this.foot = element("div", { class: "table-foot" });
    const table = element("table", {}, element("caption", {}, caption), this.head, this.body);
    target.replaceChildren(
      element("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": caption }, table),
      this.foot,
    );
    this.setRows(rows);
  }

  setRows(rows) {
    this.rows = rows;
    this.first = 0;
    this.order();
    this.render();
  }

  order() {
    const { column, down } = this.sort;
    this.ordered = this.rows.slice();
    if (column < 0) return;
    const { value } = this.columns[column];
    const sign = down ? -1 : 1;
    this.ordered.sort((a, b) => compared(value(a), value(b), sign));
  }

  sortBy(column) {
    const again = this.sort.column === column;
    this.sort = { column, down: again ? !this.sort.down : Boolean(this.columns[column].numeric) };
    this.first = 0;
    this.order();
    this.render();
    this.head.querySelectorAll("button")[column].focus();
  }

  render() {
    const sorted = (i) => (this.sort.column !== i ? "none" : this.sort.down ? "descending" : "ascending");
    const heads = this.columns.map(({ label, heading = label, numeric }, i) =>
      element(
        "th",
        { scope: "col", "aria-sort": sorted(i), class: numeric ? "number" : null },
        element("button", { type: "button", onclick: () => this.sortBy(i) }, heading),
      ),
    );
    this.head.replaceChildren(element("tr", {}, ...heads));
    const shown = this.ordered.slice(this.first, this.first + this.pageLength);
    this.body.replaceChildren(...shown.map((row) => this.rowElement(row)));
    this.renderFoot(shown.length);
  }

  rowElement(row) {
    const cells = this.columns.map(({ value, text = String, shown, numeric, wraps }) => {
      const told = element("bdi", {}, shown ? shown(row) : text(value(row)));
      return element("td", { class: numeric ? "number" : wraps ? "wraps" : null }, told);
    });
    if (!this.choose) return element("tr", {}, ...cells);
    const open = () => this.choose(row);
    const onkeydown = (event) => event.key === "Enter" && open();
    return element("tr", { class: "choice", tabindex: "0", onclick: open, onkeydown }, ...cells);
  }

  renderFoot(nShown) {
    const n = this.ordered.length;
    const told = n ? `${this.first + 1}–${this.first + nShown} of ${wholeNumber.format(n)}` : "none";
    const turn = (label, to, possible) =>
      element("button", { type: "button", disabled: !possible, onclick: () => this.turn(to) }, label);
    this.foot.replaceChildren(
      element("span", { role: "status" }, told),
      ...(n > this.pageLength
        ? [
            turn("Previous", this.first - this.pageLength, this.first > 0),
            turn("Next", this.first + this.pageLength, this.first + this.pageLength < n),
          ]
        : []),
      element("button", { type: "button", onclick: () => this.export() }, "Export CSV"),
    );
  }

  turn(first) {
    this.first = Math.max(0, first);
    this.render();
  }

  csv() {
    const lines = [this.exported.map(({ label }) => csvCell(label))];
    for (const row of this.ordered) lines.push(this.exported.map(({ value }) => csvCell(value(row))));
    return lines.map((cells) => cells.join(",")).join("\r\n") + "\r\n";
  }

  export() {
    saveText(this.csvName, this.csv(), "text/csv");
  }
}

// Numbers by size, texts by letters; what is not known comes last in both directions.
const compared = (a, b, sign) => {
  const unknown = (value) => value === null || value === undefined || Number.isNaN(value);
  if (unknown(a) || unknown(b)) return unknown(a) - unknown(b);
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  return sign * String(a).localeCompare(String(b), "en", { numeric: true });
};

// A text that a spreadsheet would take for a formula gets an apostrophe.
const csvCell = (value) => {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+@\t\r-]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const saveText = (name, text, type) => {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = element("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
};
