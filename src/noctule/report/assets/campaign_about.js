// How the campaign was done: a paragraph for a paper, its description, and the command that repeats it.

addPanel({
  id: "methods",
  title: "Methods",
  order: 94,
  async build(body, { campaign }) {
    body.append(element("p", { class: "prose" }, campaign.content.methods));
  },
});

addPanel({
  id: "again",
  title: "How to do it again",
  order: 95,
  async build(body, { campaign }) {
    const { text, about, folder, name } = campaign.content;
    const isToml = !text.trimStart().startsWith("{");
    const all = `${JSON.stringify(about, null, 2)}\n`;
    const save = (label, file, content, type) =>
      element("button", { type: "button", onclick: () => saveText(file, content, type) }, label);
    const whole = (title, content) => element("details", {}, element("summary", {}, title), element("pre", { tabindex: "0" }, content));
    const facts = [
      ["campaign", name],
      ...Object.entries(about.versions).map(([program, version]) => [program, String(version)]),
      ...Object.entries(about.workloads).flatMap(([label, { spec }]) => (spec.file ? [[`workload ${label}`, `SHA-256 ${spec.file.sha256}`]] : [])),
    ];
    const file = isToml ? "campaign.toml" : "campaign-description.json";
    const command = isToml
      ? element("p", {}, "The same results again: ", element("code", {}, `noctule campaign run campaign.toml -o ${shellWord(folder)}`))
      : element("p", {}, "It was described in Python: ", element("code", {}, "Campaign.of(description)"));
    body.append(
      element("div", { class: "card" },
        factList(facts, 120), command,
        element("div", { class: "choices" }, save(`Save ${file}`, file, text, "text/plain"), save("Save everything", "campaign.json", all, "application/json")),
        whole("The description", text), whole("Everything", all)),
    );
  },
});
