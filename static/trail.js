// The page of a run. Cards unfold and links to them work without this script, too.
(() => {
  "use strict";

  // Keep cards opened or folded as the reader left them when the stream replaces them.
  const chosen = new Map(); // id of a <details> -> whether its reader wants it open
  let every = null; // the same for all cards, once "Expand all" or "Collapse all" was pressed
  const restore = (root) => {
    for (const details of root.querySelectorAll("details[id]")) {
      const open = chosen.get(details.id) ?? (details.matches(".fold") ? every : null);
      if (open !== null) details.open = open;
    }
  };
  document.addEventListener("click", (event) => {
    const details = event.target.closest("summary")?.parentElement;
    if (details?.id) chosen.set(details.id, !details.open);
  });
  document.addEventListener("htmx:oobBeforeSwap", (event) => restore(event.detail.fragment));

  // Elements are replaced whole: mark the parts that are new or have changed, which the style sheet then moves.
  const arrive = (element) => {
    element.classList.add("arrives");
    setTimeout(() => element.classList.remove("arrives"), 1000); // long after the motion has ended
  };
  document.addEventListener("htmx:oobBeforeSwap", ({ detail: { fragment } }) => {
    for (const passage of fragment.querySelectorAll(".passage.found")) {
      if (!document.getElementById(passage.id)) arrive(passage);
    }
    const before = document.querySelectorAll("#status .pips i");
    fragment.querySelectorAll(".pips i").forEach((pip, at) => {
      const was = before[at]?.classList[0];
      if (was === "open" && !pip.matches(".open")) arrive(pip);
    });
  });

  for (const button of document.querySelectorAll("button[name=cards]")) {
    button.addEventListener("click", (event) => {
      event.preventDefault();
      every = button.value === "open";
      for (const id of chosen.keys()) if (document.getElementById(id)?.matches(".fold")) chosen.delete(id);
      restore(document);
    });
  }

  // A link to a step moves the focus there.
  const reveal = (hash) => {
    const hop = /^#hop-\d+$/.test(hash) && document.getElementById(hash.slice(1));
    if (!hop) return;
    hop.focus({ preventScroll: true });
    hop.scrollIntoView({ behavior: "instant" });
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href*='#hop-']");
    if (link?.pathname !== location.pathname) return;
    document.querySelector(".preview:popover-open")?.hidePopover();
    reveal(link.hash);
  });
  addEventListener("hashchange", () => reveal(location.hash));
  reveal(location.hash);

  // Keep the newest step in view until the reader scrolls or presses a key; at the end scroll to the verdict.
  const main = document.querySelector("main.live");
  const verdict = () => document.querySelector("#verdict.verdict");
  let following = Boolean(main) && !location.hash;
  const leave = (event) => { if (!event.target.closest?.(".strip")) following = false; };
  for (const moved of ["wheel", "touchmove", "keydown", "pointerdown"]) addEventListener(moved, leave, { passive: true });
  const follow = () => {
    if (following) [...document.querySelectorAll("li.hop")].at(-1)?.scrollIntoView({ block: "nearest", behavior: "instant" });
  };
  follow();

  // Keep the text that is being read in place when the verdict is inserted above it.
  let place = null;
  document.addEventListener("htmx:sseBeforeMessage", () => {
    const kept = !verdict() && document.getElementById("verdict");
    const below = kept && kept.nextElementSibling;
    const seen = kept && kept.getBoundingClientRect().bottom > 0;
    place = below && { below, seen, top: below.getBoundingClientRect().top };
  });
  document.addEventListener("htmx:sseMessage", () => {
    if (!place || !verdict()) return atRest(follow);
    scrollBy({ top: place.below.getBoundingClientRect().top - place.top, behavior: "instant" });
    following ||= place.seen;
    atRest(() => { if (following) verdict().scrollIntoView({ block: "start" }); });
    settle(scrollY);
  });

  // Scroll in a frame without a change of layout, or it would count as a jump; the next message may come before that.
  let turn = 0;
  const atRest = (scroll) => {
    const mine = ++turn;
    requestAnimationFrame(() => requestAnimationFrame(() => { if (mine === turn) scroll(); }));
  };

  // Show what follows the steps, and drop the room kept below them, once the page is at rest with the verdict in view.
  const settle = (was) => setTimeout(() => {
    const { top } = verdict().getBoundingClientRect();
    const arrived = !following || (top > -2 && top < innerHeight);
    if (arrived && scrollY === was) main.classList.add("done");
    else settle(scrollY);
  }, 500);

  // A citation previews its source on hover and focus; without script it is a link to its step.
  let leaving = 0;
  const preview = (event) => {
    const chip = event.target.closest?.("[data-preview]");
    const box = chip && document.getElementById(chip.dataset.preview);
    const shown = document.querySelector(".preview:popover-open");
    if (box || event.target.closest?.(".preview")) clearTimeout(leaving);
    else if (shown && !shown.contains(document.activeElement)) leaving = setTimeout(() => shown.hidePopover(), 200);
    if (!box || box === shown) return;
    box.showPopover({ source: chip });
    const at = chip.getBoundingClientRect();
    const above = at.top - box.offsetHeight - 6;
    box.style.left = `${Math.max(8, Math.min(at.left, document.body.clientWidth - box.offsetWidth - 8))}px`;
    box.style.top = `${above > 8 ? above : at.bottom + 6}px`;
  };
  for (const met of ["pointerover", "focusin"]) document.addEventListener(met, preview);

  // A steering button may be removed when it is pressed, so move the focus to its container.
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.target.id === "stop" || event.target.id === "conclude") document.getElementById("steering").focus();
  });

  // Show a failed request by its button; what was typed is still there.
  const UNDONE =
    "That was not done: the check is not here any more, or the site does not answer just now. " +
    "Load the page again to see its state.";
  const forget = (event) => event.target.closest("form")?.querySelector(".undone")?.remove();
  const showFailure = (event) => {
    const line = Object.assign(document.createElement("p"), { className: "problem undone", role: "alert" });
    line.textContent = say(UNDONE);
    event.target.closest("form")?.append(line);
  };
  for (const failure of ["htmx:responseError", "htmx:sendError"]) document.addEventListener(failure, showFailure);
  document.addEventListener("htmx:beforeRequest", forget);

  // Update the clock and the current activity between two messages of the stream, which replace both.
  const MIN_SHOWN_SECONDS = 3;
  const began = new WeakMap();
  const words = (seconds) =>
    seconds < 60
      ? say("{seconds} s", { seconds })
      : say("{minutes} min {rest} s", { minutes: Math.floor(seconds / 60), rest: seconds % 60 });
  const tick = () => {
    for (const ticking of document.querySelectorAll("#clock [data-seconds]")) {
      if (!began.has(ticking)) began.set(ticking, performance.now() - 1000 * Number(ticking.dataset.seconds));
      const seconds = Math.floor((performance.now() - began.get(ticking)) / 1000);
      const doing = ticking.dataset.doing;
      ticking.textContent = doing ? say("still {doing}, {time}", { doing, time: words(seconds) }) : words(seconds);
      ticking.hidden = Boolean(doing) && seconds < MIN_SHOWN_SECONDS;
    }
  };
  setInterval(tick, 250);
})();
