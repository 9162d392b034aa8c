// Keys: arrows pan (hosts only where some are out of sight: else the page scrolls),
// + and - zoom, 0 shows all, / searches, b brushes, ? helps, Escape takes back.

const KEYS = {
  ArrowLeft: ({ view }) => view.pan(-0.2),
  ArrowRight: ({ view }) => view.pan(0.2),
  ArrowUp: ({ view }) => view.panHosts(0.2),
  ArrowDown: ({ view }) => view.panHosts(-0.2),
  "+": ({ view }) => view.zoom(1 / 1.5),
  "=": ({ view }) => view.zoom(1 / 1.5),
  "-": ({ view }) => view.zoom(1.5),
  0: ({ view }) => view.reset(),
  "/": () => document.querySelector("#search input").focus(),
  b: ({ setDrag, dragging }) => setDrag(dragging() === "brush" ? "pan" : "brush"),
  "?": () => document.querySelector("#help").showModal(),
  Escape: (page) => takeBack(page),
};

const takeBack = ({ view, setDrag }) => {
  setDrag("pan");
  for (const name of ["brush", "user", "job"]) {
    if (view.get(name) === null) continue;
    view.set(name, null);
    return;
  }
};

const buildKeyboard = (page) => listenToKeys(KEYS, page);
