// Keys: arrows pan, + and - zoom, 0 shows all, / searches, b brushes, ? helps, Escape takes back.

const KEYS = {
  ArrowLeft: ({ view }) => view.pan(-0.2),
  ArrowRight: ({ view }) => view.pan(0.2),
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

const buildKeyboard = (page) => {
  addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, select, textarea, dialog, .table-scroll");
    if (typing || event.ctrlKey || event.altKey || event.metaKey) return;
    const act = KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    act(page);
  });
};
