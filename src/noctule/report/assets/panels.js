// Panels below the figures. A panel is {id, title, order, build(body, page)}; `build` fills the
// body once, listens to page.view, and may say by returning false that there is nothing to show.

const PANELS = [];

const addPanel = (panel) => PANELS.push(panel);

const buildPanels = async (target, page) => {
  for (const panel of PANELS.sort((a, b) => a.order - b.order)) {
    const body = element("div", { class: "panel-body" });
    const heading = element("h2", { id: `${panel.id}-title` }, panel.title);
    const section = element(
      "section",
      { class: "panel", id: panel.id, "aria-labelledby": `${panel.id}-title` },
      heading,
      body,
    );
    target.append(section);
    if ((await panel.build(body, page)) === false) section.remove();
    else document.getElementById("contents").append(jumpTo(section, panel.title));
  }
};

// The address tells the view, so that a link to a place in the page is a button.
const jumpTo = (section, title) =>
  element("button", { type: "button", onclick: () => section.scrollIntoView() }, title);

const buildSkipping = () => {
  const panels = document.getElementById("panels");
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    panels.focus();
    panels.scrollIntoView();
  });
};
