// What all pages have around their figures: data, a theme, sentences about it, and a way to fail.

const FORMAT = 1;

const pageContent = () => {
  const content = JSON.parse(document.getElementById("content").textContent);
  if (content.format !== FORMAT) throw new Error(`data of format ${content.format}, expected ${FORMAT}`);
  return content;
};

const describePage = (subtitle, notes, version) => {
  document.getElementById("subtitle").textContent = subtitle;
  const list = document.getElementById("notes");
  list.replaceChildren(...notes.map((note) => element("li", {}, note)));
  list.hidden = !notes.length;
  document.getElementById("version").textContent = `Noctule ${version}`;
};

const buildTheme = ({ view, figures }) => {
  const root = document.documentElement;
  const choice = document.getElementById("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const theme = view.get("theme");
    const chosen = theme === "auto" ? (dark.matches ? "dark" : "light") : theme;
    root.dataset.theme = isPrinted ? "light" : chosen;
    root.toggleAttribute("data-paper", isPrinted);
    choice.value = theme;
  };
  // paper is light, and must be drawn before the browser takes its picture
  let isPrinted = false;
  const print = (begins) => {
    isPrinted = begins;
    view.emit("theme");
    for (const figure of figures.all) figure.view?.paint();
    document.querySelectorAll(".on-paper").forEach((picture) => picture.remove());
    if (begins) figures.all.forEach(({ view: shown }) => shown && putOnPaper(shown));
  };
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  // the style must be there before figures read it
  view.listeners.set("theme", [apply, ...(view.listeners.get("theme") ?? [])]);
  dark.addEventListener("change", () => view.emit("theme"));
  choice.addEventListener("change", () => view.set("theme", choice.value));
  apply();
};

// A picture of a plot in its place, as wide as the paper: plots keep the width that they had on the
// screen until the browser has the time to lay them out.
const putOnPaper = (plot) => {
  const { canvas } = plot.export("png");
  canvas.className = "on-paper";
  plot.el.parentElement.append(canvas);
};

// Keys do what `keys` says, unless somebody types; what answers false leaves a key to the browser.
const listenToKeys = (keys, page) => {
  addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, select, textarea, dialog, .table-scroll");
    if (typing || event.ctrlKey || event.altKey || event.metaKey) return;
    const act = keys[event.key];
    if (act && act(page) !== false) event.preventDefault();
  });
};

const openPage = (build) =>
  build().catch((error) => {
    const place = document.getElementById("trouble");
    place.hidden = false;
    place.textContent = `This page cannot be shown: ${error.message}`;
    document.documentElement.dataset.state = "failed";
    throw error;
  });
