/* More than 100 ms from the site: the pair that would follow is fetched while one is answered, and stands there
   from the press until the answer is acknowledged. It cannot be answered: the pair that was
   assigned, most often the same, takes its place. */
"use strict";
(() => {
  const find = (selector, inside = document) => inside.querySelector(selector);
  const keyOf = (form) => (form?.id === "answer" ? form.dataset.keep : undefined);
  let following = {};

  async function foresee(form) {
    const key = keyOf(form);
    if (!key || following.key === key) return;
    const mine = following = { key };
    try {
      const answer = await fetch(`${form.action}next/`, { headers: { "HX-Request": "true" } });
      if (answer.status === 200) mine.page = await answer.text();
    } catch { /* it comes with the answer */ }
  }

  function show(key) {
    if (!following.page || following.key !== key || !find("#trouble").hidden) return;
    const pair = find("#stage", new DOMParser().parseFromString(following.page, "text/html"));
    for (const one of [pair, ...pair.querySelectorAll("[id]")]) one.removeAttribute("id");
    pair.inert = true;
    pair.dataset.foreseen = "";
    const stage = find("#stage");
    stage.before(pair);
    stage.hidden = true;
    scrollTo(0, 0);
  }

  function hide() {
    const pair = find("[data-foreseen]");
    if (!pair) return;
    pair.remove();
    find("#stage").hidden = false;
  }

  document.addEventListener("input", ({ target }) => { foresee(target.form); });
  document.addEventListener("htmx:beforeRequest", ({ target }) => { show(keyOf(target)); });
  document.addEventListener("htmx:afterRequest", hide);
  document.addEventListener("keydown", (event) => {
    if (find("[data-foreseen]")) event.stopImmediatePropagation();
  }, true);
  if (find("#answer :checked")) foresee(find("#answer")); /* chosen before this was loaded */
})();
