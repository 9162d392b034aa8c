// The page of a campaign: reads its data, builds controls and panels.

const buildCampaign = async () => {
  const content = pageContent();
  const campaign = new Campaign(content, new ColumnStore());
  const view = new CampaignView(campaign);
  const page = { content, campaign, view, figures: { all: [] }, tip: new Tip() };
  await campaign.runs.load();
  buildTheme(page);
  view.applyAddress(location.hash.slice(1));
  describeCampaign(page);
  buildCampaignControls(page);
  await buildPanels(document.getElementById("panels"), page);
  keepAddress(view, "metric by within axis x y filter theme");
  listenToKeys(CAMPAIGN_KEYS, page);
  buildSkipping();
  document.documentElement.dataset.state = "ready";
  performance.mark("drawn");
  window.noctule = page;
};

const describeCampaign = ({ content, campaign }) => {
  const { runs } = campaign;
  const count = (status) => runs.columns.status.filter((told) => told === status).length;
  const facts = [countText(runs.n, "run"), `${wholeNumber.format(count("done"))} done`];
  if (count("failed")) facts.push(`${wholeNumber.format(count("failed"))} failed`);
  facts.push(countText(campaign.metrics.length, "metric"), ...campaign.parameters.map(({ name, n_levels }) => `${name}: ${n_levels}`));
  describePage(facts.join(" · "), content.notes, content.version);
};

// A list to choose something of the view from; it follows the view.
const choiceOf = (view, name, text = (value) => value) => {
  const select = element("select", { id: `choose-${name}` });
  fillChoice(select, view, name, text);
  return select;
};

const fillChoice = (select, view, name, text) => {
  const follow = () => {
    const options = view.possible(name).map((value) => element("option", { value }, shortText(text(value), 60)));
    select.replaceChildren(...options);
    select.value = view.get(name);
    select.disabled = options.length < 2;
  };
  select.addEventListener("change", () => view.set(name, select.value));
  view.on(name === "within" ? "by within" : name, follow);
  follow();
};

const buildCampaignControls = ({ view, campaign }) => {
  const choices = { metric: metricText, by: (name) => name, within: (name) => name || "nothing", axis: (name) => name };
  for (const [name, text] of Object.entries(choices)) fillChoice(document.getElementById(name), view, name, text);
  document.querySelector(".controls").hidden = !campaign.tables.length;
  document.querySelector('[data-act="help"]').addEventListener("click", () => document.getElementById("help").showModal());
  const meaning = document.getElementById("meaning");
  const tell = () => {
    const metric = campaign.metric(view.get("metric"));
    meaning.textContent = metric ? `${shortText(metric.description, 160)}${metric.unit ? `, in ${metric.unit}` : ""}; ${preferred(metric)}` : "";
  };
  view.on("metric", tell);
  tell();
};

const step = (name, way) => ({ view }) => {
  const all = view.possible(name);
  if (all.length) view.set(name, all[(all.indexOf(view.get(name)) + way + all.length) % all.length]);
};

const CAMPAIGN_KEYS = {
  m: step("metric", 1),
  M: step("metric", -1),
  p: step("by", 1),
  P: step("by", -1),
  l: step("axis", 1),
  c: step("within", 1),
  C: step("within", -1),
  "/": () => document.getElementById("filter").focus(),
  "?": () => document.getElementById("help").showModal(),
  Escape: ({ view }) => view.set("filter", ""),
};

openPage(buildCampaign);
