/* More than 100 ms from the site: the pair that would follow is fetched while one is answered, and
   stands there from the press until the answer is acknowledged. It cannot be answered: the pair
   that was assigned, most often the same, takes its place. */
"use strict";
(() => {
  const find = (selector, inside = document) => inside.querySelector(selector);
  const keyOf = (form) => (form?.id === "answer" ? form.dataset.keep : undefined);
  const held = () => find("template[data-foreseen]"); /* no part of the page until it is shown */
  let asked;

  async function foresee(form) {
    const key = keyOf(form);
    if (!key || key === asked) return;
    asked = key;
    try {
      const answer = await fetch(`${form.action}next/`, { headers: { "HX-Request": "true" } });
      if (answer.status === 200) place(key, await answer.text());
    } catch { /* it comes with the answer */ }
  }

  function place(key, page) {
    if (key !== keyOf(find("#answer"))) return; /* another pair by now */
    const pair = find("#stage", new DOMParser().parseFromString(page, "text/html"));
    for (const one of [pair, ...pair.querySelectorAll("[id]")]) one.removeAttribute("id");
    pair.inert = true;
    held()?.remove();
    const holder = document.createElement("template");
    holder.dataset.foreseen = key;
    holder.content.append(pair);
    find("#stage").before(holder);
  }

  function show(key) {
    const holder = held();
    if (!holder || holder.dataset.foreseen !== key || !find("#trouble").hidden) return;
    holder.after(holder.content.firstChild);
    find("#stage").hidden = true;
    scrollTo(0, 0);
  }

  function hide() {
    const holder = held();
    if (!holder) return;
    find("#stage").hidden = false;
    const shown = find("[data-foreseen] + [inert]");
    if (shown) holder.content.append(shown);
    if (holder.dataset.foreseen !== keyOf(find("#answer"))) holder.remove();
  }

  document.addEventListener("input", ({ target }) => { foresee(target.form); });
  document.addEventListener("htmx:beforeRequest", ({ target }) => { show(keyOf(target)); });
  document.addEventListener("htmx:afterRequest", hide);
  document.addEventListener("keydown", (event) => {
    if (find("[data-foreseen] + [inert]")) event.stopImmediatePropagation();
  }, true);
  if (find("#answer :checked")) foresee(find("#answer")); /* chosen before this was loaded */
})();
