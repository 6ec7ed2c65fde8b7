// Keyboard shortcuts, outside of text fields: "/" moves to the claim's box, j and k to the next and previous step of a
// report, "?" lists them.
(() => {
  "use strict";

  const FIELDS = "textarea, select, input:not([type=checkbox], [type=radio], [type=submit], [type=button])";
  const list = document.getElementById("shortcuts");
  const steps = () => [...document.querySelectorAll("li.hop:not([hidden])")];

  const toBox = () => {
    const box = document.querySelector("#claim, #q");
    if (box) box.focus();
    else location.assign(document.querySelector(".wordmark").href);
  };

  const walk = (by) => {
    const all = steps();
    const now = all.indexOf(document.activeElement.closest("li.hop"));
    const next = all[now < 0 ? (by > 0 ? 0 : all.length - 1) : now + by];
    if (!next) return;
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "start", behavior: "instant" });
  };

  const KEYS = { "/": toBox, j: () => walk(1), k: () => walk(-1), "?": () => list.togglePopover() };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (!Object.hasOwn(KEYS, event.key) || event.target.closest(FIELDS)) return;
    event.preventDefault();
    KEYS[event.key]();
  });
  document.getElementById("shortcuts-open").hidden = false;
})();
