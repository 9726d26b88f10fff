/* Charts in place of the pictures that came with the page: first those near the window, and where
   data are to be saved no others. Where anything fails, and in forced colours, the pictures and
   tables stay. */
"use strict";
(() => {
  const needs = document.currentScript.dataset.needs.split(" ");
  let library = null;

  const fetchScript = (address) => new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.async = false;
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(script);
  });

  function fetchLibrary() {
    library ??= Promise.all(needs.map(fetchScript));
    return library;
  }

  /* Make room at once, so that nothing jumps when the library has come. */
  function show(chart, isShown) {
    const figure = chart.closest("figure");
    chart.hidden = !isShown;
    figure.classList.toggle("charted", isShown);
    if ("drawnOnly" in figure.dataset) figure.hidden = !isShown;
    for (const fold of figure.querySelectorAll("details.folds")) fold.open = !isShown;
  }

  async function draw(chart) {
    try {
      await fetchLibrary();
      const parts = JSON.parse(document.getElementById(chart.dataset.chart).textContent);
      window.heartCharts.draw(chart, parts);
    } catch (error) {
      show(chart, false);
      console.error(error);
    }
  }

  if (matchMedia("(forced-colors: active)").matches) return;
  const waiting = new Set(document.querySelectorAll("[data-chart]"));
  const meet = (chart) => waiting.delete(chart) && draw(chart);
  const near = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) if (isIntersecting) meet(target);
  }, { rootMargin: "400px" });
  for (const chart of waiting) {
    show(chart, true);
    near.observe(chart);
  }

  /* The others in quiet moments, one by one: who captures or searches a page scrolls nowhere. */
  const whenIdle = window.requestIdleCallback ?? setTimeout;
  function meetNext() {
    const [chart] = waiting;
    if (!chart) return;
    meet(chart);
    whenIdle(meetNext);
  }
  if (!navigator.connection?.saveData) addEventListener("load", () => whenIdle(meetNext));
})();
