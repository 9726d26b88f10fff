/* What the rater's pages beside the judging gain with a script: copy buttons, the offset of the
   browser's clock with the consent, and whether the site is far. */
"use strict";
(() => {
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

  document.addEventListener("click", (event) => {
    const copier = event.target.closest("[data-copies]");
    if (copier) copy(copier);
  });

  /* Nothing but the cache answered within 100 ms. */
  const isFar = (one) => !one.transferSize || one.responseStart - one.requestStart > 100;
  try {
    localStorage.setItem("heart.far", performance.getEntries().every(isFar));
  } catch { /* switched off */ }

  for (const copier of document.querySelectorAll("[data-copies]")) copier.hidden = false;
  const offset = document.querySelector("input[name=utc_offset_minutes]");
  if (offset) offset.value = -new Date().getTimezoneOffset();
})();
