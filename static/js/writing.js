/* The writer's page: live counts, a draft that saves itself, Ctrl+Enter, and what a reviewer is
   told about how a text came about (time at the keys, pasted pieces).

   The page works without this file: the counts are then those of the last answer, and a button
   saves the draft. What the site has not confirmed is also kept in this browser, so that a lost
   connection or a closed tab costs nothing; it is forgotten as soon as the site has it. If the
   site has got another text meanwhile, from another device, that one is shown, and the copy of
   this browser is offered beside it. */
(() => {
  "use strict";

  const PAUSE_MS = 800; // of not typing before the draft is saved
  const RETRY_MS = 5000; // between attempts while the site cannot be reached
  const THINKING_MS = 5000; // a longer gap between two keys is no typing
  /* As completions.dialogues.wording has it. */
  const UNSPACED = "[\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3040-\\u30ff\\u3400-\\u9fff]";
  const SPACED = `(?:(?!${UNSPACED})[\\p{L}\\p{N}])+`;
  const WORD = new RegExp(
    `(?:(?=[\\p{L}\\p{N}])${UNSPACED}){1,2}|${SPACED}(?:['’-]${SPACED})*`, "gu",
  );
  const MARKS = /[\p{M}\u200c\u200d\u115f\u1160\u3164\uffa0]/gu;
  const STOPS =
    ".!?…\\u0589\\u055e\\u061f\\u06d4\\u0964\\u0965\\u104b\\u1362\\u1367\\u17d4\\u203c\\u203d" +
    "\\u2047-\\u2049。！\\uff0e？\\uff61";
  const SENTENCE_END = new RegExp(`[${STOPS}]+(?:\\s|$)|[。！？\\uff61]+`, "u");

  let saved = ""; // the text that the site has
  let timer = 0;
  let saving = null; // the request that is under way
  let isOutdated = false;
  let isRefused = false; // by a site that does not know this browser: asking again is in vain
  let isSending = false;
  let lastKey = -Infinity;
  let fraction = 0; // of a millisecond at the keys

  const form = () => document.getElementById("message");
  const box = () => form()?.querySelector("textarea") ?? null;
  const countWords = (text) => (text.replace(MARKS, "").match(WORD) ?? []).length;
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

  /* How the text came about: plain numbers, kept in the form and sent with the text. */
  const SIGNALS = ["typing_ms", "pastes", "pasted_characters"];
  const signals = () => SIGNALS.map((name) => Number(form().elements[name].value));
  function atLeast(counted) {
    for (const [place, name] of SIGNALS.entries()) {
      const field = form().elements[name];
      field.value = Math.max(Number(field.value), Number(counted?.[place]) || 0);
    }
  }
  function add(name, amount) {
    const field = form().elements[name];
    field.value = Number(field.value) + amount;
  }
  function timeKeys() {
    const now = performance.now();
    if (now - lastKey < THINKING_MS) fraction += now - lastKey;
    lastKey = now;
    add("typing_ms", Math.floor(fraction));
    fraction %= 1;
  }
  function notePasted(event) {
    if (!["insertFromPaste", "insertFromDrop"].includes(event.inputType)) return;
    const text = event.data ?? event.dataTransfer?.getData("text/plain") ?? "";
    add("pastes", 1);
    add("pasted_characters", text.length);
  }

  /* This browser's own copy, with the text of the site that it was typed over. Only while the
     site does not have it. Storage may be refused; the site's draft alone has to do then. */
  const key = (kind) => `heart-${kind}-${form().dataset.token}`;
  function remember(kind, copy) {
    try {
      localStorage.setItem(key(kind), JSON.stringify(copy));
    } catch {
      return;
    }
  }
  function recall(kind) {
    try {
      const copy = JSON.parse(localStorage.getItem(key(kind)));
      return typeof copy?.text === "string" ? copy : null;
    } catch {
      return null;
    }
  }
  function forget(...kinds) {
    try {
      for (const kind of kinds) localStorage.removeItem(key(kind));
    } catch {
      return;
    }
  }

  function later(wait) {
    window.clearTimeout(timer);
    timer = window.setTimeout(save, wait);
  }

  function post() {
    saving = new AbortController();
    // The header asks for an answer without a page, as htmx does.
    return fetch(form().dataset.draft, {
      method: "POST",
      body: new URLSearchParams(new FormData(form())),
      headers: { "HX-Request": "true" },
      keepalive: true,
      signal: saving.signal,
    });
  }

  async function save() {
    window.clearTimeout(timer);
    if (saving || isOutdated || isSending || !box() || box().value === saved) return;
    const text = box().value;
    say("saving");
    try {
      const answer = await post();
      isOutdated = answer.status === 409;
      isRefused = [403, 404].includes(answer.status);
      if (!answer.ok) throw new Error(String(answer.status));
      saved = text;
      say("saved");
    } catch {
      if (!isSending) say(isOutdated ? "outdated" : isRefused ? "refused" : "unsaved");
    } finally {
      saving = null;
    }
    if (!box() || isOutdated || isRefused || isSending) return;
    if (box().value === saved) forget("draft");
    else later(saved === text ? PAUSE_MS : RETRY_MS);
  }

  function typed() {
    count();
    if (box().value === saved) return forget("draft");
    remember("draft", { text: box().value, base: saved, signals: signals() });
    if (isOutdated) return;
    say("");
    later(PAUSE_MS);
  }

  function begin() {
    if (!box()) return;
    for (const button of document.querySelectorAll("[data-without-script]")) button.remove();
    form().autocomplete = "off"; // else a reload brings back what the browser remembers
    saved = box().defaultValue;
    isOutdated = false;
    isRefused = false;
    isSending = false;
    const copy = recall("draft");
    atLeast(copy?.signals);
    if (copy?.base === saved) box().value = copy.text;
    else if (copy && copy.text !== saved) remember("other", copy);
    offerOther();
    typed();
    document.documentElement.classList.add("js");
  }

  function offerOther() {
    const other = recall("other");
    const offer = document.getElementById("other-copy");
    offer.hidden = other === null || other.text === box().value;
    offer.querySelector("button").onclick = () => {
      box().value = other.text;
      forget("other");
      offer.hidden = true;
      box().focus();
      typed();
    };
  }

  document.addEventListener("beforeinput", (event) => {
    if (event.target === box()) notePasted(event);
  });
  document.addEventListener("input", (event) => {
    if (event.target !== box()) return;
    timeKeys();
    typed();
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
    if (!line) return;
    line.hidden = !isShown;
    if (isShown) line.scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("htmx:beforeRequest", () => {
    window.clearTimeout(timer);
    isSending = true; // so a draft that is on its way would come too late
    saving?.abort();
    trouble(false);
  });
  const notSent = () => {
    isSending = false;
    trouble(true);
    later(RETRY_MS);
  };
  document.addEventListener("htmx:sendError", notSent);
  document.addEventListener("htmx:responseError", notSent);
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.xhr.status === 409) forget("draft", "other");
  });
  document.addEventListener("htmx:beforeOnLoad", (event) => {
    if (event.detail.xhr.getResponseHeader("HX-Redirect")) forget("draft", "other");
  });
  document.addEventListener("htmx:afterSettle", begin);
  begin();
})();
