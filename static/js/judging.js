/* Keys, focus, drafts, time out of sight; all works without it. */
"use strict";
(() => {
  const root = document.documentElement;
  const find = (selector, inside = document) => inside.querySelector(selector);
  const findAll = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const answerForm = () => find("form#answer");

  /* Storage may be switched off. */
  const memory = (area) => ({
    read(key) {
      try { return JSON.parse(window[area].getItem(key)); } catch { return null; }
    },
    write(key, value) {
      try { window[area].setItem(key, JSON.stringify(value)); } catch { /* full */ }
    },
  });
  const tab = memory("sessionStorage");
  const browser = memory("localStorage");

  /* Drafts by the token of the pair, until it is gone. */
  const DRAFTS = "heart.drafts";
  const LEFT_OUT = new Set(["csrfmiddlewaretoken", "hidden_ms", "opened_earlier"]);
  const token = () => answerForm()?.dataset.keep;
  const drafts = () => tab.read(DRAFTS) ?? {};

  function saveDraft(changes) {
    const key = token();
    if (!key) return;
    const { [key]: draft, ...others } = drafts();
    const kept = Object.entries(others).slice(-2);
    tab.write(DRAFTS, Object.fromEntries([...kept, [key, { ...draft, ...changes }]]));
  }

  function dropDraft(key) {
    const { [key]: _sent, ...others } = drafts();
    tab.write(DRAFTS, others);
  }

  function saveFields() {
    const all = findAll("#stage form").flatMap((form) => [...new FormData(form)]);
    saveDraft({ typed: all.filter(([name]) => !LEFT_OUT.has(name)) });
  }

  function restoreFields(typed) {
    if (!typed || find("#errors")) return; /* as posted */
    for (const control of findAll("#stage form :is(input, textarea)")) {
      const values = typed.filter(([name]) => name === control.name).map(([, value]) => value);
      if (/radio|checkbox/.test(control.type)) control.checked = values.includes(control.value);
      else if (values.length) [control.value] = values;
    }
  }

  /* At once: a phone may drop a hidden tab. */
  let hidden = 0;
  let leftAt = null;
  let going = false;

  function leave() {
    if (going) return;
    leftAt ??= Date.now();
    saveDraft({ hidden, leftAt });
  }

  function comeBack() {
    if (leftAt !== null) hidden += Math.max(0, Date.now() - leftAt);
    leftAt = null;
    saveDraft({ hidden, leftAt });
    showHiddenTime();
  }

  const turn = () => (document.visibilityState === "hidden" ? leave() : comeBack());

  const note = (name, value) => {
    const field = answerForm()?.elements[name];
    if (field) field.value = value;
  };
  const showHiddenTime = () => note("hidden_ms", Math.round(hidden));

  /* Empty where nothing is folded. */
  function showEarlier() {
    const isFolded = find(".earlier > summary")?.checkVisibility();
    note("opened_earlier", isFolded ? Number(openedEarlier) : "");
  }

  let openedEarlier = false;
  document.addEventListener("toggle", ({ target }) => {
    if (!target.matches(".earlier[open]")) return;
    openedEarlier = true;
    saveDraft({ openedEarlier });
    showEarlier();
  }, true);
  addEventListener("resize", showEarlier);

  function arrive() {
    const draft = drafts()[token()] ?? {};
    openedEarlier = draft.openedEarlier ?? false;
    showEarlier();
    hidden = draft.hidden ?? 0;
    leftAt = draft.leftAt ?? null;
    turn();
    restoreFields(draft.typed);
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

  const shortcutsOn = () => browser.read("heart.shortcuts") !== false;
  const typing = (target) => target.closest("textarea, select, input:not([type=radio], [type=checkbox])");
  /* A control that a key changes comes into sight. */
  const reach = (control) => {
    control.focus({ preventScroll: true });
    (control.closest("label") ?? control).scrollIntoView({ block: "nearest" });
  };
  const choose = (radio) => {
    if (!radio) return;
    reach(radio);
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
    if (/^[1-9]$/.test(key)) return chooseNumber(Number(key));
    const letter = key.toLowerCase();
    if (letter === "r") return toggleRubric();
    if (letter === "u") return undo();
    const side = find(`#stage [data-letters] input[value="${CSS.escape(letter.toUpperCase())}"]`);
    choose(side);
    return Boolean(side);
  }

  /* A digit answers the question in focus. */
  function chooseNumber(number) {
    const groups = findAll("#stage [data-digits]");
    const focused = groups.findIndex((group) => group.contains(document.activeElement));
    const open = groups.findIndex((group) => !find(":checked", group));
    const here = focused < 0 ? Math.max(open, 0) : focused;
    const radio = groups[here] && findAll("input", groups[here])[number - 1];
    choose(radio);
    const next = radio && groups[here + 1];
    if (next) reach(find(":checked", next) ?? find("input", next));
    return Boolean(radio);
  }

  let readAt = 0;

  function toggleRubric() {
    const rubric = find("#rubric");
    if (!rubric) return false;
    rubric.open = !rubric.open;
    if (!rubric.open) scrollTo(0, readAt);
    readAt = scrollY;
    if (rubric.open) rubric.scrollIntoView({ block: "nearest" });
    return true;
  }

  function undo() {
    const link = find("#undo");
    const isOffered = Boolean(link?.checkVisibility({ visibilityProperty: true }));
    if (isOffered) link.click();
    return isOffered;
  }

  function openKeys() {
    const dialog = find("#keys");
    if (!dialog) return false;
    find("[data-shortcuts]", dialog).checked = shortcutsOn();
    dialog.showModal();
    return true;
  }

  const send = (form) => form && find("[type=submit]:not([disabled])", form)?.click();

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || find("dialog[open]")) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      send(event.target.closest("textarea")?.form ?? answerForm());
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (typing(event.target) || !shortcutsOn()) return;
    if (singleKey(event.key)) event.preventDefault();
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-opens]")) openKeys();
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
    } else if (event.target.closest("#stage form")) {
      saveFields();
      forgiveError(event.target);
      trouble(false);
    }
  });

  function forgiveError(control) {
    const group = control.closest("fieldset, .field");
    for (const part of [control, group]) part?.removeAttribute("aria-invalid");
    if (group) findAll(".error-text", group).forEach((note) => note.remove());
  }

  /* Not sent: tried again, and counts once. */
  let attempts = 0;
  let timer = 0;
  let sendAgain = null;

  function trouble(shown) {
    clearTimeout(timer);
    const note = find("#trouble");
    if (note) note.hidden = !shown;
    if (shown) return;
    attempts = 0;
    sendAgain = null;
  }

  function notSent({ detail: { requestConfig } }) {
    const { elt } = requestConfig;
    if (elt.closest("#rubric")) return;
    trouble(true);
    const button = requestConfig.triggeringEvent?.submitter;
    sendAgain = () => (elt.href ? elt.click() : elt.requestSubmit(button));
    const wait = 1500 * 2 ** Math.min(attempts++, 4); /* 1.5 to 24 s, not all at once */
    timer = setTimeout(sendAgain, wait * (0.75 + Math.random() / 2));
  }

  document.addEventListener("htmx:beforeRequest", ({ target }) => {
    if (!target.closest("#rubric")) clearTimeout(timer);
  });
  document.addEventListener("htmx:sendError", notSent);
  document.addEventListener("htmx:responseError", notSent);
  addEventListener("online", () => sendAgain?.());

  document.addEventListener("htmx:afterRequest", ({ detail }) => {
    const key = detail.requestConfig.elt.dataset.keep; /* the form is gone */
    if (key && detail.xhr.status >= 200 && detail.xhr.status < 400) dropDraft(key);
  });

  let shown = null;
  document.addEventListener("htmx:afterSettle", () => {
    const stage = find("#stage");
    if (stage === shown) return;
    shown = stage;
    trouble(false);
    arrive();
    moveFocus();
  });

  document.addEventListener("visibilitychange", turn);
  addEventListener("pagehide", () => { going = true; });
  addEventListener("pageshow", () => { going = false; });

  if (browser.read("heart.far")) import(document.currentScript.dataset.far); /* by visiting.js */
  root.classList.add("js");
  for (const control of findAll("[data-opens]")) control.hidden = false;
  shown = find("#stage");
  arrive();
})();
