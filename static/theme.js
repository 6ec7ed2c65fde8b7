// The switch between the system's colours, light ones and dark ones. A cookie keeps the choice and the server writes it
// into each page, so none flashes in the wrong colours. Without script the system's preference rules.
(() => {
  "use strict";

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
    button.querySelector(".theme-name").textContent = theme;
  };

  button.addEventListener("click", () => {
    const theme = NEXT[button.dataset.now];
    keep(theme);
    show(theme);
  });
  addEventListener("pageshow", () => show(kept())); // going back brings a page as it was left, in earlier colours
  show(kept());
  button.hidden = false;
})();
