/* Loads a page that could not be shown as soon as the site is back. */
"use strict";
(() => {
  const EVERY_MS = 3000;
  const address = document.querySelector("[data-ready]").dataset.ready;

  async function look() {
    try {
      const answer = await fetch(address, { cache: "no-store" });
      if (answer.ok) return location.reload();
    } catch { /* still away */ }
    later();
  }

  /* Not all at the same moment. */
  const later = () => setTimeout(look, EVERY_MS * (0.5 + Math.random()));

  document.getElementById("by-itself").hidden = false;
  later();
})();
