/* The writer's page: live counts, a draft that saves itself, Ctrl+Enter.

   The page works without this file: the counts are then those of the last answer, and a button
   saves the draft. What the site has not confirmed is also kept in this browser, so that a lost
   connection or a closed tab costs nothing; it is forgotten as soon as the site has it. */
(() => {
  "use strict";

  const PAUSE_MS = 800; // of not typing before the draft is saved
  const RETRY_MS = 5000; // between attempts while the site cannot be reached
  const WORD = /[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu; // as completions.wording has it
  const SENTENCE_END = /[.!?…。！？]+(?:\s|$)/u;

  let saved = ""; // the text that the site has
  let timer = 0;
  let isSaving = false;

  const form = () => document.getElementById("message");
  const box = () => form()?.querySelector("textarea") ?? null;
  const countWords = (text) => (text.match(WORD) ?? []).length;
  const countSentences = (text) => text.split(SENTENCE_END).filter((part) => countWords(part)).length;

  function say(state) {
    const line = document.getElementById("draft-state");
    if (line) line.textContent = line.dataset[state] ?? "";
  }

  function count() {
    const counts = document.getElementById("counts");
    const words = countWords(box().value);
    counts.querySelector("[data-words]").textContent = words;
    counts.querySelector("[data-sentences]").textContent = countSentences(box().value);
    counts.classList.toggle("long", words > Number(counts.dataset.long));
  }

  /* This browser's own copy, only while the site does not have the text. Storage may be refused. */
  const copyKey = () => `heart-draft-${form().dataset.token}`;
  function keepCopy(text) {
    try {
      localStorage.setItem(copyKey(), text);
    } catch {
      return; // no storage: the site's draft alone has to do
    }
  }
  function readCopy() {
    try {
      return localStorage.getItem(copyKey());
    } catch {
      return null;
    }
  }
  function dropCopy() {
    try {
      localStorage.removeItem(copyKey());
    } catch {
      return; // nothing was stored either
    }
  }

  function later(wait) {
    window.clearTimeout(timer);
    timer = window.setTimeout(save, wait);
  }

  function post(text) {
    const fields = new URLSearchParams({ text });
    fields.set("csrfmiddlewaretoken", form().elements.csrfmiddlewaretoken.value);
    // The header asks for an answer without a page, as htmx does.
    const headers = { "HX-Request": "true" };
    return fetch(form().dataset.draft, { method: "POST", body: fields, headers, keepalive: true });
  }

  async function save() {
    window.clearTimeout(timer);
    if (isSaving || !box() || box().value === saved) return;
    const text = box().value;
    isSaving = true;
    say("saving");
    try {
      const answer = await post(text);
      if (!answer.ok) throw new Error(String(answer.status));
      saved = text;
      say("saved");
    } catch {
      say("unsaved");
    } finally {
      isSaving = false;
    }
    if (!box()) return;
    if (box().value === saved) dropCopy();
    else later(saved === text ? PAUSE_MS : RETRY_MS);
  }

  function typed() {
    count();
    if (box().value === saved) return dropCopy();
    keepCopy(box().value);
    say("");
    later(PAUSE_MS);
  }

  function begin() {
    if (!box()) return;
    for (const button of document.querySelectorAll("[data-without-script]")) button.hidden = true;
    saved = box().defaultValue;
    const copy = readCopy();
    if (copy !== null && copy !== box().value) box().value = copy;
    typed();
  }

  document.addEventListener("input", (event) => {
    if (event.target === box()) typed();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && form()?.contains(event.target)) {
      event.preventDefault();
      form().requestSubmit(document.getElementById("submit"));
    }
  });
  document.addEventListener("click", (event) => {
    const menu = document.querySelector("details.menu[open]");
    if (menu && !menu.contains(event.target)) menu.open = false;
  });
  document.addEventListener("keyup", (event) => {
    const menu = event.key === "Escape" && event.target.closest("details.menu[open]");
    if (!menu) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") save();
  });
  window.addEventListener("online", () => save());

  /* Sending: htmx swaps what has to be mended in, or moves on; the trouble line is for no answer. */
  const trouble = (isShown) => {
    const line = document.getElementById("trouble");
    if (line) line.hidden = !isShown;
  };
  document.addEventListener("htmx:beforeRequest", () => {
    window.clearTimeout(timer);
    trouble(false);
  });
  document.addEventListener("htmx:sendError", () => trouble(true));
  document.addEventListener("htmx:responseError", () => trouble(true));
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.xhr.status === 409) dropCopy();
  });
  document.addEventListener("htmx:beforeOnLoad", (event) => {
    if (event.detail.xhr.getResponseHeader("HX-Redirect")) dropCopy();
  });
  document.addEventListener("htmx:afterSettle", begin);
  begin();
})();
