/* What the console's pages on one context gain with a script: keys, and a reading position. Without
   it every button and link works by itself. */
"use strict";
(() => {
  const root = document.documentElement;
  const find = (selector, inside = document) => inside.querySelector(selector);
  const dialog = find("#keys");
  const note = find("#id_note");
  const form = find("#decide[method]");

  /* Storage may be switched off; then nothing is remembered and nothing breaks. */
  const SHORTCUTS = "heart.shortcuts";
  const EARLIER = "heart.earlier";
  const remembered = (area, key) => {
    try { return JSON.parse(window[area].getItem(key)); } catch { return null; }
  };
  const remember = (area, key, value) => {
    try { window[area].setItem(key, JSON.stringify(value)); } catch { /* full or forbidden */ }
  };
  const shortcutsOn = () => remembered("localStorage", SHORTCUTS) !== false;
  const typing = (target) => target.closest("textarea, select, input:not([type=checkbox])");

  /* One decision per page: a key that is held or pressed twice does not decide the next context. */
  let leaving = false;

  function press(control) {
    if (!control || leaving) return false;
    if (control.type === "submit") form.requestSubmit(control);
    else control.click();
    return true;
  }

  function singleKey(key) {
    if (key === "?") return openKeys();
    if (key === "e" && note) {
      note.focus();
      note.setSelectionRange(note.value.length, note.value.length);
      return true;
    }
    return press(find(`[data-key~="${CSS.escape(key)}"]`));
  }

  function openKeys() {
    if (!dialog) return false;
    find("[data-shortcuts]", dialog).checked = shortcutsOn();
    dialog.showModal();
    return true;
  }

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || find("dialog[open]")) return;
    if (event.target === note && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      press(find("#save-note"));
      return;
    }
    if (event.target === note && event.key === "Escape") {
      find("#stage-title").focus({ preventScroll: true });
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (typing(event.target) || !shortcutsOn()) return;
    if (singleKey(event.key.toLowerCase())) event.preventDefault();
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-opens]")) openKeys();
    const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey; /* another tab or window */
    if (event.target.closest("a[data-key]") && !elsewhere) leaving = true;
  });
  form?.addEventListener("submit", (event) => {
    if (leaving) event.preventDefault();
    leaving = true;
  });
  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-shortcuts]")) {
      remember("localStorage", SHORTCUTS, event.target.checked);
    }
  });
  window.addEventListener("pageshow", () => { leaving = false; });

  /* Whoever opened the earlier messages of one dialogue reads those of the next, too. */
  const earlier = find("#earlier");
  if (earlier && remembered("sessionStorage", EARLIER)) earlier.open = true;
  earlier?.addEventListener("toggle", () => remember("sessionStorage", EARLIER, earlier.open));

  root.classList.add("js");
  for (const control of document.querySelectorAll("[data-opens]")) control.hidden = false;
  if (find(".error-text")) note.focus();
  else if (!location.hash) find("#stage-title")?.focus({ preventScroll: true });
})();
