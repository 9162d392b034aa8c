// All runs: a table with a filter, those that failed with their messages, and their own pages.

const FACT_COLUMNS = ["bound", "status", "error", "key"];

// Words that must all be in what is told of a run; name=value wants one column to be exactly so.
const runFilter = (text, axes, runs) => {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  const names = [...axes, ...FACT_COLUMNS];
  const textOf = (name, row) => String(runs.at(name, row) ?? "").toLowerCase();
  return (row) =>
    wanted.every((word) => {
      const [name, ...value] = word.split("=");
      const exact = names.find((known) => known.toLowerCase() === name);
      if (exact && value.length) return textOf(exact, row) === value.join("=");
      return names.some((known) => textOf(known, row).includes(word));
    });
};

const cellText = (value) => (value === null || Number.isNaN(value) ? "–" : shortText(String(value), 40));

const pageCell = ({ folder }, runs, row) => {
  const address = runs.at("page", row);
  if (address) return element("a", { href: address }, "open");
  const key = runs.at("key", row);
  if (!runs.at("kept", row)) return "jobs not kept";
  return element("code", {}, `noctule report ${shellWord(`${folder}/runs/${key.slice(0, 2)}/${key}`)} -o run.html`);
};

const runColumns = ({ campaign, view }) => {
  const { runs, content } = campaign;
  const text = (name, label = name) => ({
    label, value: (row) => runs.at(name, row), text: cellText, numeric: runs.columns[name] instanceof Float64Array,
  });
  const number = (name) => ({ label: name, value: (row) => runs.at(name, row), text: numberText, numeric: true });
  const telling = content.axes.filter((name) => new Set(runs.columns[name]).size > 1 || name === "policy");
  const chosen = [...new Set(["metric", "x", "y"].map((name) => view.get(name)))].filter((name) => name && runs.has(name));
  const hasBounds = runs.columns.bound.some(Boolean);
  const measured = Object.keys(runs.told).filter((name) => ![...content.axes, ...FACT_COLUMNS, "kept", "page"].includes(name));
  return {
    shown: [
      ...telling.map((name) => text(name)),
      ...(hasBounds ? [text("bound")] : []),
      text("status"),
      ...chosen.map(number),
      { label: "report", value: (row) => runs.at("page", row), shown: (row) => pageCell(content, runs, row) },
    ],
    exported: [...content.axes.map((name) => text(name)), ...FACT_COLUMNS.map((name) => text(name)), ...measured.map(number)],
  };
};

addPanel({
  id: "runs-table",
  title: "Runs",
  order: 90,
  async build(body, page) {
    const { view, campaign } = page;
    const { runs, content } = campaign;
    const filter = element("input", { type: "search", id: "filter", placeholder: "policy=easy failed … ( / )", "aria-label": "Filter the runs" });
    const target = element("div");
    body.append(element("div", { class: "choices" }, element("label", { class: "field" }, "Filter ", filter)), target);
    const rows = () => {
      const holds = runFilter(view.get("filter"), content.axes, runs);
      return Array.from({ length: runs.n }, (_, row) => row).filter(holds);
    };
    const build = () => {
      const { shown, exported } = runColumns(page);
      page.runsTable = new SortedTable(target, {
        caption: "All runs; the CSV has every metric of those that the filter leaves",
        columns: shown,
        exported,
        rows: rows(),
        csvName: "runs.csv",
      });
    };
    const follow = () => {
      if (document.activeElement !== filter) filter.value = view.get("filter");
      page.runsTable.setRows(rows());
    };
    filter.addEventListener("input", calmed(150, () => view.set("filter", filter.value)));
    filter.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      filter.value = "";
      filter.blur();
      view.set("filter", "");
    });
    build();
    follow();
    view.on("filter", follow);
    view.on("metric x y", build);
  },
});

addPanel({
  id: "failures",
  title: "Failed runs",
  order: 40,
  async build(body, { campaign }) {
    const { runs, content } = campaign;
    const failed = Array.from({ length: runs.n }, (_, row) => row).filter((row) => runs.at("error", row));
    if (!failed.length) return false;
    const told = (name) => ({ label: name, value: (row) => runs.at(name, row), text: cellText });
    const target = element("div");
    body.append(target);
    new SortedTable(target, {
      caption: "What has failed, and why; noctule campaign run --retry-failed does it again",
      columns: [
        { label: "error", value: (row) => runs.at("error", row), text: (error) => shortText(error, 160) },
        ...content.axes.filter((name) => new Set(runs.columns[name]).size > 1).map(told),
        told("key"),
      ],
      rows: failed,
      csvName: "failed.csv",
      pageLength: 10,
    });
  },
});
