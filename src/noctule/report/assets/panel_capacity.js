// Where the host-seconds of the machine went, in the period that is looked at.

const CAPACITY_COLOURS = {
  busy: "#0072b2", empty_queue: "#b8bcc2", fragmentation: "#d55e00", draining: "#e69f00",
  reserved: "#cc79a7", switching: "#f0e442", off: "#56b4e9", down: "#4a4a4a",
};

// Steps of a run's parts, but for what is busy: that is the rest.
const capacitySteps = (run, page) =>
  run.remembered("capacity", async () => {
    const told = page.data("capacity")[run.index];
    const parts = Object.entries(told).map(async ([name, { time, value }]) => [
      name,
      new Steps(await run.store.numbers(time), await run.store.integers(value)),
    ]);
    return new Map(await Promise.all(parts));
  });

const capacityIn = async (run, page, [from, to]) => {
  const found = new Map([["busy", 0]]);
  const whole = to > from ? run.nHosts * (to - from) : 0;
  let rest = whole;
  for (const [name, steps] of await capacitySteps(run, page)) {
    const seconds = whole ? steps.integral(from, to) : 0;
    found.set(name, seconds);
    rest -= seconds;
  }
  return found.set("busy", rest);
};

const hostHoursText = (seconds) => `${numberText(Math.round(seconds / 36) / 100)} h`;

// A bar as wide as its parts, for those who see; the table tells the same.
const capacityBar = (run, amounts) => {
  const whole = [...amounts.values()].reduce((a, b) => a + b, 0);
  const parts = [...amounts].filter(([, seconds]) => seconds > 0).map(([name, seconds]) => {
    const share = (100 * seconds) / whole;
    const style = `width:${share.toFixed(3)}%;background:${CAPACITY_COLOURS[name]}`;
    return element("span", { style, title: `${name.replace("_", " ")} ${share.toFixed(1)} %` });
  });
  const label = element("bdi", {}, shortText(run.name, 40));
  return element("div", { class: "bar-row" }, label, element("div", { class: "bar", "aria-hidden": "true" }, ...parts));
};

addPanel({
  id: "capacity",
  title: "Where host-hours went",
  order: 30,
  async build(body, page) {
    const { view } = page;
    const bars = element("div", { class: "bars" });
    const legend = element("ul", { class: "bar-legend", "aria-hidden": "true" });
    const target = element("div");
    body.append(bars, legend, target);
    const show = async () => {
      const runs = view.shownRuns;
      const found = await Promise.all(runs.map((run) => capacityIn(run, page, measuredWindow(run, view))));
      const names = Object.keys(CAPACITY_COLOURS).filter((name) => found.some((of) => of.get(name) > 0));
      bars.replaceChildren(...runs.map((run, i) => capacityBar(run, found[i])));
      legend.replaceChildren(...names.map((name) => legendEntry(name.replace("_", " "), { style: `background:${CAPACITY_COLOURS[name]}` })));
      const wholes = found.map((of) => [...of.values()].reduce((a, b) => a + b, 0));
      new SortedTable(target, {
        caption: "Host-hours, one pair of columns a run",
        columns: [
          { label: "hosts were", value: (name) => name, text: (name) => name.replace("_", " ") },
          ...found.flatMap((of, i) => shareColumns(runs[i], of, wholes[i], hostHoursText)),
        ],
        rows: names,
        csvName: "capacity.csv",
      });
    };
    view.on("range brush runs data", calmed(400, show));
    await show();
  },
});
