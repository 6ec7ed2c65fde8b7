// Conveniences that need a script. Every page works without it.
(() => {
  "use strict";

  // Ctrl+Enter or Cmd+Enter submits the form of a text area; in the claim's box Enter alone does. While an input method
  // composes a word, Enter ends that word.
  document.addEventListener("keydown", (event) => {
    const area = event.target.closest("textarea");
    if (event.key !== "Enter" || event.isComposing || !area?.form) return;
    if (event.ctrlKey || event.metaKey || ("enterSends" in area.dataset && !event.shiftKey)) {
      event.preventDefault();
      area.form.requestSubmit();
    }
  });

  // The counter counts as the server does: code points of the trimmed text. A text longer than a claim is split.
  const counter = document.querySelector("[data-counter]");
  const box = counter && document.getElementById(counter.dataset.counter);
  const invitation = counter?.textContent;
  const count = () => {
    const most = Number(counter.dataset.most);
    const length = [...box.value.trim()].length;
    const said = length > most ? "{length} characters: more than one claim may have" : "{length} of {most} characters";
    counter.textContent = length ? say(said, { length, most }) : invitation;
  };
  if (box) {
    box.addEventListener("input", count);
    count();
  }

  // A sample also fills the box, so that it is there when the visitor goes back.
  document.addEventListener("click", (event) => {
    const sample = event.target.closest("button[name=sample]");
    if (sample && box) {
      box.value = sample.value;
      count();
    }
  });

  // The source is one of the list, or "own choice": the options below it.
  const source = document.querySelector("[data-source-now]")?.parentElement;
  const form = source?.form;
  const chosen = (name) => form.querySelector(`input[name=${name}]:checked`);
  const tickedCorpora = () => [...form.querySelectorAll("input[name=corpora]:checked")];
  const searchesWeb = () => chosen("answerer")?.value === "web-search" && chosen("search")?.value !== "corpus";
  // The name of a model's memory, if nothing is searched.
  const recalled = () =>
    chosen("strategy")?.dataset.source || (source.value === "" && chosen("answerer")?.dataset.source);
  const ownChoice = () => {
    if (recalled()) return recalled();
    if (searchesWeb()) return source.querySelector("[value=web]")?.textContent;
    return tickedCorpora().map((box) => box.closest("label").querySelector("b").textContent).join(", ");
  };
  const searchedSources = () => {
    if (recalled()) return [];
    if (source.value) return [source.value];
    return searchesWeb() ? ["web"] : tickedCorpora().map((box) => box.value);
  };

  // Show only the lines about who gets the claim that apply to what is chosen.
  const showDestinations = () => {
    const own = source.value === "";
    const strategy = chosen("strategy")?.value;
    const preset = { "evidence-pursuit": "pursuit", "question-guided": "preset" }[strategy];
    const used = strategy ? ["strategy", preset] : ["recipe"];
    const asking = [...form.querySelectorAll("input[data-needs-model]:checked")];
    const asksModel = asking.some(({ name }) => used.includes(name) || (own && name === "answerer"));
    for (const line of form.querySelectorAll("[data-sends]")) {
      line.hidden = !asksModel || line.dataset.sends !== form.elements.model?.value;
      line.querySelector(".when").hidden = true;
    }
    const searched = searchedSources();
    for (const line of form.querySelectorAll("[data-source-sends]")) {
      line.hidden = !searched.includes(line.dataset.sourceSends);
      line.querySelector(".when").hidden = true;
    }
    for (const line of form.querySelectorAll("[data-scope]")) line.hidden = line.dataset.scope !== source.value;
    const words = source.querySelector("[data-source-now]");
    const choice = ownChoice() || say("none chosen");
    words.textContent = own ? say("Chosen under Advanced: {choice}", { choice }) : say("Chosen under Advanced");
  };
  if (form) {
    const takeAnswerer = (name) => {
      const answerer = form.querySelector(`input[name=answerer][value="${name}"]`);
      if (answerer) answerer.checked = true;
    };
    // A method with a source or an answerer of its own takes it; the next method, or a source, gives it back.
    let before = null;
    const takeOwn = ({ dataset }) => {
      if (dataset.answerer || dataset.ownSource) {
        before ??= source.value;
        source.value = dataset.ownSource ?? "";
        takeAnswerer(dataset.answerer ?? source.dataset.usualAnswerer);
      } else if (before !== null) {
        source.value = before;
        takeAnswerer(source.dataset.usualAnswerer);
        before = null;
      }
    };
    form.addEventListener("change", ({ target }) => {
      if (["recipe", "preset"].includes(target.name)) takeOwn(target);
      if (target.name === "recipe") for (const usual of form.querySelectorAll('[name=strategy][value=""]')) usual.checked = true;
      if (target === source) {
        form.elements.source_chosen.value = "yes";
        before = null;
        if (source.value) takeAnswerer(source.dataset.usualAnswerer);
      }
      const decides = ["answerer", "corpora", "search"].includes(target.name);
      if (decides || (target.name === "strategy" && target.dataset.source)) source.value = "";
      showDestinations();
    });
    addEventListener("pageshow", showDestinations); // the browser restores earlier choices when going back
    showDestinations();
  }

  // The button that submits the ticked claims shows their number.
  const ticked = document.querySelector("[data-ticked]");
  const countTicked = () => {
    const number = document.querySelectorAll("input[name=tick]:checked").length;
    ticked.textContent = say(number === 1 ? "Check {number} claim" : "Check {number} claims", { number });
    ticked.closest("button").disabled = number === 0;
  };
  if (ticked) {
    document.addEventListener("change", countTicked);
    addEventListener("pageshow", countTicked);
  }

  // Copying needs a secure context; without one the buttons stay hidden and everything can be copied by hand.
  if (navigator.clipboard) {
    document.documentElement.classList.add("can-copy");
    document.addEventListener("click", async (event) => {
      const button = event.target.closest("[data-copy], [data-quote]");
      if (!button) return;
      const { copy, quote } = button.dataset;
      const copied = copy && document.getElementById(copy);
      await navigator.clipboard.writeText(quote ?? copied.href ?? copied.textContent);
      button.dataset.words ??= button.textContent;
      button.textContent = say("Copied");
      setTimeout(() => { button.textContent = button.dataset.words; }, 2000);
    });
  }

  // The bookmarklet works on other pages; here the content security policy would report an error.
  document.getElementById("bookmarklet")?.addEventListener("click", (event) => event.preventDefault());

  // The system's share sheet, where there is one. Closing it is not an error.
  if (navigator.share) document.documentElement.classList.add("can-share");
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-share]");
    if (!button) return;
    try {
      await navigator.share({ title: document.title, url: document.getElementById(button.dataset.share).href });
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  });

  // Printing closes the menu that the button is in.
  document.documentElement.classList.add("can-print");
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-print]");
    button?.closest("[popover]")?.hidePopover();
    if (button) print();
  });
})();
