// Facts: lists of names and texts, and a tip with them beside the pointer.

// A fact is a name and a text, or several texts that stand one below the other.
const factList = (facts, length) =>
  element(
    "dl",
    { class: "facts" },
    ...facts.flatMap(([name, text]) => [
      element("dt", {}, name),
      element("dd", {}, ...[text].flat().map((line) => element("bdi", {}, shortText(line, length)))),
    ]),
  );

class Tip {
  constructor() {
    this.box = element("div", { class: "tip", role: "tooltip", hidden: true });
    document.body.append(this.box);
    this.shown = null;
  }

  // Facts that take a while to find out; `key` tells whose they are.
  async show(key, find, beside, sx, sy) {
    if (this.shown !== key) {
      this.shown = key;
      const facts = await find();
      if (this.shown !== key) return;
      this.box.replaceChildren(factList(facts, 48));
    }
    this.place(beside, sx, sy);
  }

  showFacts(facts, beside, sx, sy) {
    this.shown = null;
    this.box.replaceChildren(factList(facts, 48));
    this.place(beside, sx, sy);
  }

  // Beside a point of a figure, and within the window.
  place(beside, sx, sy) {
    this.box.hidden = false;
    const { left, top } = beside.getBoundingClientRect();
    const { width, height } = this.box.getBoundingClientRect();
    const x = left + sx + 18;
    const y = top + sy + 18;
    this.box.style.left = `${x + width > innerWidth ? Math.max(4, x - width - 36) : x}px`;
    this.box.style.top = `${Math.max(4, Math.min(y, innerHeight - height - 4))}px`;
  }

  hide() {
    this.shown = null;
    this.box.hidden = true;
  }
}
