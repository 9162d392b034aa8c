// Search: a job by its id, or a user by name; found ones are marked and zoomed to.

const MAX_HITS = 12;

const hitsFor = async (text, page) => {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const jobs = new Map();
  const users = new Map();
  for (const run of page.view.shownRuns) {
    if ((await run.rowOfId()).has(text.trim())) jobs.set(text.trim(), run);
    const ids = await run.ids();
    for (let row = 0; row < ids.length && jobs.size < MAX_HITS; row++) {
      const id = String(ids[row]);
      if (id.toLowerCase().startsWith(wanted)) jobs.set(id, run);
    }
    if (!run.has("user")) continue;
    for (const user of (await run.words("user")).words) {
      if (user.toLowerCase().includes(wanted) && users.size < MAX_HITS) users.set(user, run);
    }
  }
  const named = (kind) => ([name, run]) => ({ kind, name, run, exact: name.toLowerCase() === wanted });
  const hits = [...[...jobs].map(named("job")), ...[...users].map(named("user"))];
  return hits.sort((a, b) => b.exact - a.exact).slice(0, MAX_HITS);
};

// Show a job with as much time around it as it took, or all jobs of a user.
const goTo = async ({ kind, name, run }, page) => {
  const { view } = page;
  if (kind === "job") {
    view.set("job", name);
    const row = (await run.rowOfId()).get(name);
    view.show(...aroundJob(run, row, view.full));
    return;
  }
  view.set("user", name);
  const { words, codes } = await run.words("user");
  const code = words.indexOf(name);
  let [from, to] = [Infinity, -Infinity];
  for (let row = 0; row < run.nJobs; row++) {
    if (codes[row] !== code || Number.isNaN(run.start[row])) continue;
    from = Math.min(from, run.start[row]);
    to = Math.max(to, Math.min(run.end[row], view.full[1]));
  }
  const margin = 0.05 * (to - from);
  view.show(from - margin, to + margin);
};

const aroundJob = (run, row, full) => {
  const from = run.submit[row];
  const known = [run.finish[row], run.start[row], from].find((date) => !Number.isNaN(date));
  const length = Math.max(known - from, (full[1] - full[0]) / 2000, 1);
  return [from - length, known + length];
};

const buildSearch = (form, page) => {
  const input = form.querySelector("input");
  const list = form.querySelector("ul");
  let hits = [];
  let marked = 0;
  const render = () => {
    const items = hits.map((hit, i) =>
      element(
        "li",
        {
          role: "option", id: `hit-${i}`, "aria-selected": String(i === marked),
          onmousedown: (event) => {
            event.preventDefault();
            choose(i);
          },
        },
        element("span", { class: "kind" }, hit.kind),
        " ",
        element("bdi", {}, shortText(hit.name, 40)),
      ),
    );
    if (!items.length && input.value.trim()) items.push(element("li", { class: "none" }, "no job, no user"));
    list.replaceChildren(...items);
    list.hidden = !input.value.trim();
    input.setAttribute("aria-expanded", String(!list.hidden));
    if (hits.length) input.setAttribute("aria-activedescendant", `hit-${marked}`);
    else input.removeAttribute("aria-activedescendant");
  };
  const close = () => {
    hits = [];
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
  };
  const choose = async (i) => {
    const hit = hits[i];
    close();
    if (hit) await goTo(hit, page);
  };
  const find = async () => {
    const text = input.value;
    const found = await hitsFor(text, page);
    if (text !== input.value) return;
    hits = found;
    marked = 0;
    render();
  };
  input.addEventListener("input", find);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && hits.length) {
      marked = (marked + step + hits.length) % hits.length;
      render();
      event.preventDefault();
    } else if (event.key === "Escape") {
      close();
      input.blur();
    }
    event.stopPropagation();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!hits.length) await find();
    await choose(marked);
  });
};
