// The frame around pages that follow a run: asks for what is newer, and changes pages when the
// newer one is ready, so that nothing flickers and the view stays.

const status = document.getElementById("status");
const pages = document.getElementById("pages");
let shown = null;

const isDone = (frame) => ["ready", "failed"].includes(frame.contentDocument?.documentElement.dataset.state);

const readyPage = (frame) =>
  new Promise((resolve) => {
    frame.addEventListener("load", () => {
      const root = frame.contentDocument.documentElement;
      if (isDone(frame)) resolve();
      new MutationObserver(() => isDone(frame) && resolve()).observe(root, { attributes: true });
    });
  });

const showNewest = async () => {
  const frame = document.createElement("iframe");
  frame.title = document.title;
  const view = shown ? shown.contentWindow.location.hash : location.hash;
  frame.src = `page${view}`;
  const ready = readyPage(frame);
  pages.append(frame);
  await ready;
  if (shown) frame.contentWindow.scrollTo(0, shown.contentWindow.scrollY);
  frame.className = "shown";
  shown?.remove();
  shown = frame;
};

const follow = async () => {
  let known = 0;
  for (let isLast = false; !isLast; ) {
    const answer = await fetch(`state?after=${known}`);
    const told = await answer.json();
    if (told.revision > known) await showNewest();
    known = told.revision;
    isLast = told.is_last;
    status.textContent = told.status;
  }
};

const over = (text) => {
  status.textContent = text;
  status.className = "over";
};

follow().then(
  () => over(status.textContent),
  () => over(`${status.textContent} Then it stopped answering.`),
);
