/* What the rater's pages gain with a script: keys, focus after a swap, time out of sight, drafts
   that survive a reload, copy buttons. Without it every page still works by plain form posts. */
"use strict";
(() => {
  const root = document.documentElement;
  const find = (selector, inside = document) => inside.querySelector(selector);
  const findAll = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const answerForm = () => find("form#answer");

  /* Storage may be switched off; then nothing is remembered and nothing breaks. */
  const memory = (area) => ({
    read(key) {
      try { return JSON.parse(window[area].getItem(key)); } catch { return null; }
    },
    write(key, value) {
      try { window[area].setItem(key, JSON.stringify(value)); } catch { /* full or forbidden */ }
    },
  });
  const tab = memory("sessionStorage");
  const browser = memory("localStorage");

  /* Drafts: what is typed and chosen, by the token of the pair; the last few pairs only. */
  const DRAFTS = "heart.drafts";
  const LEFT_OUT = new Set(["csrfmiddlewaretoken", "hidden_ms"]);

  function saveDraft(changes) {
    const token = answerForm()?.dataset.keep;
    if (!token) return;
    const drafts = tab.read(DRAFTS) ?? {};
    const draft = { ...drafts[token], ...changes };
    delete drafts[token];
    const kept = Object.entries(drafts).slice(-2);
    tab.write(DRAFTS, Object.fromEntries([...kept, [token, draft]]));
  }

  function saveFields() {
    const form = answerForm();
    if (!form) return;
    const fields = [...new FormData(form)].filter(([name]) => !LEFT_OUT.has(name));
    saveDraft({ fields: Object.fromEntries(fields) });
  }

  function restoreDraft() {
    const form = answerForm();
    const draft = form && (tab.read(DRAFTS) ?? {})[form.dataset.keep];
    if (!draft) return;
    hiddenBefore = draft.hidden ?? 0;
    if (find("#errors")) return; /* the site sent back what was posted */
    for (const [name, value] of Object.entries(draft.fields ?? {})) {
      const control = form.elements[name];
      if (control) control.value = value;
    }
  }

  /* Time out of sight, for this pair. */
  let hiddenBefore = 0;
  let hiddenSince = null;

  function noteVisibility() {
    if (document.visibilityState === "hidden") {
      hiddenSince ??= performance.now();
    } else if (hiddenSince !== null) {
      hiddenBefore += performance.now() - hiddenSince;
      hiddenSince = null;
      saveDraft({ hidden: hiddenBefore });
    }
    showHiddenTime();
  }

  function showHiddenTime() {
    const field = answerForm()?.elements.hidden_ms;
    if (field) field.value = Math.round(hiddenBefore);
  }

  /* A new pair: start at the top, with the reading position on its heading. */
  function arrive() {
    hiddenBefore = 0;
    restoreDraft();
    showHiddenTime();
  }

  function moveFocus() {
    const note = find("#stage [autofocus]");
    if (note) {
      note.focus({ preventScroll: true });
      note.scrollIntoView({ block: "center" });
      return;
    }
    window.scrollTo(0, 0);
    find("#stage-title")?.focus({ preventScroll: true });
  }

  /* Keys. */
  const shortcutsOn = () => browser.read("heart.shortcuts") !== false;
  const typing = (target) => target.closest("textarea, select, input:not([type=radio], [type=checkbox])");
  const choose = (radio) => {
    if (!radio) return;
    radio.focus({ preventScroll: true });
    if (!radio.checked) radio.click();
  };

  function moveChoice(step) {
    const radios = findAll("#stage [data-arrows] input");
    if (!radios.length || document.activeElement?.matches("input[type=radio]")) return false;
    const current = radios.findIndex((radio) => radio.checked);
    const from = current < 0 ? (step > 0 ? -1 : radios.length) : current;
    choose(radios[Math.min(Math.max(from + step, 0), radios.length - 1)]);
    return true;
  }

  function singleKey(key) {
    const forward = root.dir === "rtl" ? -1 : 1;
    if (key === "?") return openKeys();
    if (key === "ArrowRight") return moveChoice(forward);
    if (key === "ArrowLeft") return moveChoice(-forward);
    if (/^[1-9]$/.test(key)) {
      const radio = findAll("#stage [data-digits] input")[Number(key) - 1];
      choose(radio);
      return Boolean(radio);
    }
    const letter = key.toLowerCase();
    if (letter === "r") return toggleRubric();
    const side = find(`#stage [data-letters] input[value="${CSS.escape(letter.toUpperCase())}"]`);
    choose(side);
    return Boolean(side);
  }

  function toggleRubric() {
    const rubric = find("#rubric");
    if (!rubric) return false;
    rubric.open = !rubric.open;
    if (rubric.open) rubric.scrollIntoView({ block: "nearest" });
    return true;
  }

  function openKeys() {
    const dialog = find("#keys");
    if (!dialog) return false;
    find("[data-shortcuts]", dialog).checked = shortcutsOn();
    dialog.showModal();
    return true;
  }

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || find("dialog[open]")) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      find("#submit:not([disabled])")?.click();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing(event.target) || !shortcutsOn()) return;
    if (singleKey(event.key)) event.preventDefault();
  });

  /* One listener for all that is clicked or changed; swapped parts need no set-up. */
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-opens]");
    if (opener) openKeys();
    const copier = event.target.closest("[data-copies]");
    if (copier) copy(copier);
    for (const menu of findAll("details.menu[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });

  document.addEventListener("keyup", (event) => {
    const menu = event.key === "Escape" && event.target.closest("details.menu[open]");
    if (!menu) return;
    menu.open = false;
    find("summary", menu).focus();
  });

  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-shortcuts]")) {
      browser.write("heart.shortcuts", event.target.checked);
    } else if (event.target.form?.id === "answer") {
      saveFields();
      forgiveError(event.target);
    }
  });

  /* What has been put right is no longer marked as wrong. */
  function forgiveError(control) {
    const group = control.closest("fieldset, .field");
    for (const part of [control, group]) part?.removeAttribute("aria-invalid");
    if (group) findAll(".error-text", group).forEach((note) => note.remove());
  }

  async function copy(button) {
    const source = document.getElementById(button.dataset.copies);
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
    } catch {
      getSelection().selectAllChildren(source);
      document.execCommand("copy");
    }
    const label = button.textContent;
    button.textContent = button.dataset.copied;
    setTimeout(() => { button.textContent = label; }, 2000);
  }

  /* The site cannot be reached, or failed: say so beside the button, keep everything. */
  const trouble = (shown) => {
    const note = find("#trouble");
    if (note) note.hidden = !shown;
  };
  document.addEventListener("htmx:beforeRequest", () => trouble(false));
  document.addEventListener("htmx:sendError", () => trouble(true));
  document.addEventListener("htmx:responseError", () => trouble(true));
  document.addEventListener("htmx:timeout", () => trouble(true));

  let shown = null;
  document.addEventListener("htmx:afterSettle", () => {
    const stage = find("#stage");
    if (stage === shown) return; /* a part beside the stage settled */
    shown = stage;
    arrive();
    moveFocus();
  });

  document.addEventListener("visibilitychange", noteVisibility);

  root.classList.add("js");
  for (const control of findAll("[data-opens], [data-copies]")) control.hidden = false;
  const offset = find("input[name=utc_offset_minutes]");
  if (offset) offset.value = -new Date().getTimezoneOffset();
  shown = find("#stage");
  arrive();
})();
