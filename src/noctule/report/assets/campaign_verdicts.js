// Which differences are real: paired comparisons of the chosen metric, with Holm's correction.

const spanText = (low, high, unit) => (Number.isNaN(low) ? "–" : `${numberText(low)} to ${numberText(high)}${unit}`);

const verdictColumns = (table) => [
  { label: "verdict", value: ({ verdict }) => verdict, text: (verdict) => shortText(verdict, 120) },
  ...(table.within ? [{ label: table.within, value: ({ group }) => group, text: (group) => shortText(group, 40) }] : []),
  { label: "difference", value: ({ difference }) => difference, text: numberText, numeric: true },
  { label: "interval", value: ({ low }) => low, shown: ({ low, high }) => spanText(low, high, ""), numeric: true },
  { label: "in per cent", value: ({ relative }) => relative, text: numberText, numeric: true },
  {
    label: "interval in per cent", value: ({ relative_low }) => relative_low, numeric: true,
    shown: ({ relative_low, relative_high }) => spanText(relative_low, relative_high, " %"),
  },
  { label: "p", value: ({ p_value }) => p_value, text: numberText, numeric: true },
  { label: "p corrected", value: ({ p_corrected }) => p_corrected, text: numberText, numeric: true },
  { label: "effect", value: ({ cohens_dz }) => cohens_dz, text: numberText, numeric: true },
  { label: "pairs", value: ({ n_pairs }) => n_pairs, text: numberText, numeric: true },
  { label: "notes", value: ({ notes }) => notes, text: (notes) => shortText(notes, 60) },
];

const showCommand = ({ folder }, table, metric) =>
  `noctule campaign show ${shellWord(folder)} --by ${shellWord(table.by)}${table.within ? ` --within ${shellWord(table.within)}` : ""} --metric ${metric.name}`;

// A word as a shell takes it back.
const shellWord = (text) => (/^[\w./=:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

addPanel({
  id: "verdicts",
  title: "Verdicts",
  order: 20,
  async build(body, page) {
    const { view, campaign } = page;
    if (!campaign.tables.length) return false;
    const show = latest(async (isLatest) => {
      const table = await campaign.table(view.get("by"), view.get("within"));
      const metric = campaign.metric(view.get("metric"));
      if (!isLatest() || !table || !metric) return;
      const { comparisons } = table;
      const rows = comparisons.where((row) => comparisons.at("metric", row) === metric.name);
      const command = element("p", { class: "note" }, "The same on the command line: ", element("code", {}, showCommand(campaign.content, table, metric)));
      if (!rows.length) {
        const several = table.levels.length > 1;
        const why = several ? "There are no pairs to compare, or too many for a page." : `There is one level of ${table.by}: nothing to compare.`;
        body.replaceChildren(element("p", {}, why), command);
        return;
      }
      const target = element("div");
      body.replaceChildren(target, command);
      page.verdicts = new SortedTable(target, {
        caption: `${metricText(metric.name)}: the level that is better against the other, in pairs of runs; ${wholeNumber.format(rows.filter(({ significant }) => significant).length)} of ${countText(rows.length, "difference")} significant`,
        columns: verdictColumns(table),
        exported: Object.keys(comparisons.columns).map((name) => ({ label: name, value: (row) => row[name] })),
        rows,
        csvName: `verdicts-${metric.name}.csv`,
      });
    });
    view.on("metric by within", show);
    await show();
  },
});
