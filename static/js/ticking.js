/* One box ticks all boxes of its form; without scripts each is ticked by hand. */
"use strict";
for (const label of document.querySelectorAll("[data-ticks]")) {
  const all = label.querySelector("input");
  const boxes = [...all.form.elements].filter((one) => one.type === "checkbox" && one.name);
  label.hidden = boxes.length === 0;
  all.addEventListener("input", () => {
    for (const box of boxes) box.checked = all.checked;
  });
}
