/* One box ticks all boxes of its form but those that want a look each; without scripts, by hand. */
"use strict";
for (const label of document.querySelectorAll("[data-ticks]")) {
  const all = label.querySelector("input");
  const boxes = [...all.form.elements].filter(
    ({ type, name, dataset }) => type === "checkbox" && name && !("byHand" in dataset),
  );
  label.hidden = boxes.length === 0;
  all.addEventListener("input", () => {
    for (const box of boxes) box.checked = all.checked;
  });
}
