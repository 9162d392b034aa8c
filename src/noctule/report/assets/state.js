// What is chosen on a page, by name, and who wants to know when it changes; it stands in the
// address of the page, so that a link shows the same.

const THEMES = ["auto", "light", "dark"];

class ViewState {
  constructor(values) {
    this.listeners = new Map();
    this.values = { ...values, theme: "auto" };
  }

  // Calls back after changes of some names.
  on(names, callback) {
    for (const name of names.split(" ")) {
      if (!this.listeners.has(name)) this.listeners.set(name, []);
      this.listeners.get(name).push(callback);
    }
  }

  emit(name) {
    for (const callback of this.listeners.get(name) ?? []) callback(name);
  }

  get(name) {
    return this.values[name];
  }

  set(name, value) {
    if (JSON.stringify(value) === JSON.stringify(this.values[name])) return;
    this.values[name] = value;
    this.emit(name);
  }
}

// `view` tells itself as a text (`address`) and takes one (`applyAddress`).
const keepAddress = (view, names) => {
  // a page in the cell of a notebook has no address of its own
  if (location.protocol === "about:") return;
  const write = calmed(200, () => {
    const text = view.address();
    if (text !== location.hash.slice(1)) history.replaceState(null, "", `#${text}`);
  });
  view.on(names, write);
  addEventListener("hashchange", () => view.applyAddress(location.hash.slice(1)));
};
