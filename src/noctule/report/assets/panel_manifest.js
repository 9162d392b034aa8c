// What was run, and the command that does it again.

const manifestFacts = ({ versions, options, inputs }) => [
  ["workload", String(options.workload)],
  ["policy", String(options.policy)],
  ["hosts", String(options.platform.file ?? options.platform.n_hosts)],
  ...Object.entries(versions).map(([name, version]) => [name, String(version)]),
  ...inputs.map(({ path, sha256 }) => [`input ${path}`, sha256]),
];

const manifestCard = (run) => {
  const manifest = run.told.manifest;
  const heading = element("h3", {}, element("bdi", {}, shortText(run.name, 60)));
  if (!manifest) return element("div", { class: "card" }, heading, element("p", {}, "This run has no manifest."));
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  const save = element("button", { type: "button", onclick: () => saveText("manifest.json", text, "application/json") }, "Save manifest.json");
  const words = element("p", {}, "The same files again, byte by byte: ", element("code", {}, "noctule rerun manifest.json"));
  const whole = element("details", {}, element("summary", {}, "Everything"), element("pre", { tabindex: "0" }, text));
  return element("div", { class: "card" }, heading, factList(manifestFacts(manifest), 120), words, save, whole);
};

addPanel({
  id: "manifest",
  title: "How to do it again",
  order: 95,
  async build(body, page) {
    if (page.runs.every((run) => !run.told.manifest)) return false;
    const show = () => body.replaceChildren(element("div", { class: "cards wide" }, ...page.view.shownRuns.map(manifestCard)));
    page.view.on("runs", show);
    show();
  },
});
