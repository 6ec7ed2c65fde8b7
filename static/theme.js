// The switch between the system's, light and dark colours. A cookie keeps the choice and the server writes it into each
// page, so that no page flashes in the wrong colours. Without script the system's preference applies.
(() => {
  "use strict";

  // The words of all scripts, in the language of the page: those of the element with this id, else in English.
  const known = JSON.parse(document.getElementById("words")?.textContent ?? "{}");
  window.say = (words, values = {}) => (known[words] ?? words).replace(/\{(\w+)\}/g, (_, name) => values[name]);

  const NEXT = { system: "light", light: "dark", dark: "system" };
  const YEAR = 365 * 24 * 3600;
  const root = document.documentElement;
  const button = document.getElementById("theme");

  const kept = () => /(?:^|; )theme=(light|dark)(?:;|$)/.exec(document.cookie)?.[1] ?? "system";

  const keep = (theme) => {
    const age = theme === "system" ? 0 : YEAR;
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `theme=${theme}; path=/; max-age=${age}; samesite=lax${secure}`;
  };

  const show = (theme) => {
    if (theme === "system") delete root.dataset.theme;
    else root.dataset.theme = theme;
    button.dataset.now = theme;
    button.querySelector(".theme-name").textContent = say(theme);
  };

  button.addEventListener("click", () => {
    const theme = NEXT[button.dataset.now];
    keep(theme);
    show(theme);
  });
  addEventListener("pageshow", () => show(kept())); // the browser restores earlier colours when going back
  show(kept());
  button.hidden = false;
})();
