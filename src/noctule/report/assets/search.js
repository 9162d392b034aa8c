// Search: a job by its id, or a user by name; found ones are marked and zoomed to.

const MAX_HITS = 12;

const hitsFor = async (text, page) => {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const jobs = new Set();
  const users = new Set();
  for (const run of page.view.shownRuns) {
    if ((await run.rowOfId()).has(text.trim())) jobs.add(text.trim());
    const ids = await run.ids();
    for (let row = 0; row < ids.length && jobs.size < MAX_HITS; row++) {
      const id = String(ids[row]);
      if (id.toLowerCase().startsWith(wanted)) jobs.add(id);
    }
    if (!run.has("user")) continue;
    for (const user of (await run.words("user")).words) {
      if (user.toLowerCase().includes(wanted) && users.size < MAX_HITS) users.add(user);
    }
  }
  const named = (kind) => (name) => ({ kind, name, exact: name.toLowerCase() === wanted });
  const hits = [...[...jobs].map(named("job")), ...[...users].map(named("user"))];
  return hits.sort((a, b) => b.exact - a.exact).slice(0, MAX_HITS);
};

// Show a job from its submission to its end in all shown runs, or all jobs of a user.
const goTo = async ({ kind, name }, page) => {
  const { view } = page;
  view.set(kind, name);
  let [from, to] = [Infinity, -Infinity];
  for (const run of view.shownRuns) {
    for (const row of await rowsOf(run, kind, name)) {
      const dates = [run.submit[row], run.start[row], Math.min(run.end[row], view.full[1])];
      const known = dates.filter((date) => !Number.isNaN(date));
      from = Math.min(from, ...known);
      to = Math.max(to, ...known);
    }
  }
  const margin = Math.max(kind === "job" ? 0.3 * (to - from) : 0.02 * (to - from), 1);
  view.show(from - margin, to + margin);
};

const rowsOf = async (run, kind, name) => {
  if (kind === "job") {
    const row = (await run.rowOfId()).get(name);
    return row === undefined ? [] : [row];
  }
  if (!run.has("user")) return [];
  const { words, codes } = await run.words("user");
  const code = words.indexOf(name);
  const rows = [];
  codes.forEach((some, row) => some === code && rows.push(row));
  return rows;
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
    input.blur();
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
