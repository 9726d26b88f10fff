/* One chart on the page: drawn in the page's colours, read by pointer or keys, zoomed, and with
   systems hidden and shown. The table beside it stays what screen readers are led to. */
"use strict";
(() => {
  const { kinds } = window.heartCharts;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const MOST_CHOICES = 60;
  const LEGENDS = ["lines", "radar"];
  const COLOURS = 6;
  const DASHES = 4;
  const PRINTED = /\.(svg|pdf|png)$/;

  function lookOf(chart, view) {
    const style = getComputedStyle(view);
    const token = (name) => style.getPropertyValue(name).trim();
    return {
      ink: token("--ink"), soft: token("--ink-soft"), line: token("--line"), strong: token("--line-strong"),
      surface: token("--surface"), wash: token("--accent-wash"), accent: token("--accent"), warn: token("--warn"),
      colours: ["--accent", "--warn", "--line-strong", "--bad", "--ink-soft", "--ink"].map(token),
      font: style.fontFamily,
      width: view.clientWidth,
      some: chart.dataset.some,
      mix: (one, other, share) => echarts.color.lerp(share, [one, other]),
    };
  }

  /* What all kinds share: letters, the tooltip as plain text (the policy forbids inline styles),
     and the mark of simulated data. */
  function common(look, label, simulated, corner) {
    return {
      animation: !still.matches, animationDuration: 0, animationDurationUpdate: 200,
      textStyle: { fontFamily: look.font, color: look.ink },
      aria: { enabled: true, label: { description: label } },
      title: simulated ? { text: simulated, ...corner, padding: 0, textStyle: { fontSize: 12, fontWeight: 600, color: look.warn } } : undefined,
      tooltip: {
        renderMode: "richText", confine: true, trigger: "item", transitionDuration: 0,
        backgroundColor: look.surface, borderColor: look.strong, borderWidth: 1, padding: [8, 10],
        textStyle: { color: look.ink, fontSize: 13, lineHeight: 18, fontFamily: look.font },
        formatter: ({ data }) => data.said,
      },
    };
  }

  class Chart {
    constructor(element, parts) {
      const inside = (selector) => element.querySelector(selector);
      Object.assign(this, { element, parts, view: inside(".view"), canvas: inside(".canvas"), saidLine: inside(".said") });
      /* How to read values is said once a page. */
      this.hint = document.querySelector(".chart") === element ? this.saidLine.dataset.empty : "";
      this.hidden = new Set();
      this.stop = -1;
      if (parts.most) parts.rows.forEach((row, place) => !row.isDrawn && this.hidden.add(place));
      this.plot = echarts.init(this.canvas, null, { renderer: "svg", width: 300, height: 300 });
      this.offerChoice();
      this.draw();
      this.listen();
    }

    draw() {
      const look = lookOf(this.element, this.view);
      const simulated = this.parts.isSimulated ? this.element.dataset.simulated : "";
      this.drawn = kinds[this.parts.picture](this.parts, look, this.hidden);
      const corner = this.parts.picture === "heat" ? { left: 8, top: 6 } : { right: 10, top: 6 };
      const shared = common(look, this.canvas.dataset.label, simulated, corner);
      const tooltip = { ...shared.tooltip, ...this.drawn.option.tooltip };
      this.stop = -1;
      this.say("");
      this.plot.resize({ width: Math.max(look.width, this.drawn.width ?? 0), height: this.drawn.height, silent: true });
      this.plot.setOption({ ...shared, ...this.drawn.option, tooltip }, { notMerge: true });
      this.element.querySelector(".zoom").hidden = !this.drawn.zooms;
    }

    /* A button for each series or system: the legend of those that have colours. */
    offerChoice() {
      const named = this.parts.series ?? this.parts.rows;
      this.isLegend = LEGENDS.includes(this.parts.picture);
      this.chips = [];
      if (this.parts.picture === "heat" || named.length < 2 || named.length > MOST_CHOICES || !named.every((one) => one.name)) return;
      const choice = this.element.querySelector(".choice");
      choice.hidden = false;
      choice.open = this.isLegend;
      choice.querySelector(".most").hidden = !this.parts.most;
      this.chips = named.map((one, place) => this.chip(one.name, place));
      choice.querySelector(".chips").append(...this.chips);
      this.markChips();
    }

    chip(name, place) {
      const button = document.createElement("button");
      const label = document.createElement("span");
      button.type = "button";
      label.textContent = name;
      button.append(label);
      button.addEventListener("click", () => {
        if (!this.hidden.delete(place)) this.hidden.add(place);
        this.markChips();
        this.draw();
        if (this.parts.most) this.keepInAddress();
      });
      return button;
    }

    markChips() {
      const shown = this.chips.map((_, place) => place).filter((place) => !this.hidden.has(place));
      this.chips.forEach((button, place) => {
        const isShown = !this.hidden.has(place);
        const style = this.parts.most ? shown.indexOf(place) : place;
        const dash = this.parts.most ? style % DASHES : Math.floor(style / COLOURS) % DASHES;
        button.className = this.isLegend && style >= 0 ? `chip c${style % COLOURS} d${dash}` : "chip";
        button.setAttribute("aria-pressed", String(isShown));
        button.disabled = !isShown && shown.length >= (this.parts.most ?? Infinity);
      });
    }

    /* The address and the figures for print have the systems that are drawn. */
    keepInAddress() {
      const slugs = this.parts.rows.filter((_, place) => !this.hidden.has(place)).map((row) => row.slug);
      const query = slugs.length ? `?systems=${slugs.map(encodeURIComponent).join(",")}` : "";
      history.replaceState(null, "", location.pathname + query + location.hash);
      for (const link of this.element.closest("figure").querySelectorAll("figcaption a")) {
        if (PRINTED.test(link.pathname)) link.search = query;
      }
    }

    listen() {
      this.view.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (this.press(event.key)) event.preventDefault();
      });
      this.view.addEventListener("blur", () => this.plot.dispatchAction({ type: "hideTip" }));
      for (const button of this.element.querySelectorAll("[data-zoom]")) {
        button.addEventListener("click", () => this.zoom(Number(button.dataset.zoom)));
      }
      let width = this.view.clientWidth;
      new ResizeObserver(() => {
        if (this.view.clientWidth === width || !this.view.clientWidth) return;
        width = this.view.clientWidth;
        this.draw();
      }).observe(this.view);
      dark.addEventListener("change", () => this.draw());
      still.addEventListener("change", () => this.draw());
    }

    press(key) {
      const stride = this.drawn.stride ?? 1;
      const last = this.drawn.stops.length - 1;
      const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: stride, ArrowUp: -stride };
      if (key in steps) return this.stand(this.stop < 0 ? 0 : this.stop + steps[key]);
      if (key === "Home") return this.stand(0);
      if (key === "End") return this.stand(last);
      if (key === "+" || key === "-") return this.zoom(key === "+" ? 0.6 : 1.7);
      if (key === "Escape") return this.zoom(0);
      return false;
    }

    /* Go to a value: the tooltip shows it, the line below says it. */
    stand(stop) {
      const at = this.drawn.stops[stop];
      if (!at) return true;
      this.plot.dispatchAction({ type: "downplay" });
      this.stop = stop;
      this.bringIn(at.row);
      const { seriesIndex, dataIndex, text } = at;
      this.plot.dispatchAction({ type: "highlight", seriesIndex, dataIndex });
      this.plot.dispatchAction({ type: "showTip", seriesIndex, dataIndex });
      this.say(text);
      return true;
    }

    /* Move the window over a long list so that it holds the row. */
    bringIn(row) {
      const [list] = this.plot.getOption().dataZoom ?? [];
      if (row === undefined || !list) return;
      const { startValue, endValue } = list;
      const by = Math.min(row - startValue, 0) + Math.max(row - endValue, 0);
      if (by) this.plot.dispatchAction({ type: "dataZoom", startValue: startValue + by, endValue: endValue + by });
    }

    say(text) {
      this.saidLine.textContent = text ? text.replaceAll("\n", "; ") : this.hint;
    }

    /* Show a smaller or larger part around the middle of what is shown; 0 shows all. */
    zoom(factor) {
      const windows = this.drawn.zooms ? this.plot.getOption().dataZoom : [];
      windows.forEach(({ start, end }, dataZoomIndex) => {
        const half = factor ? Math.min(Math.max((end - start) * factor / 2, 2), 50) : 50;
        const middle = Math.min(Math.max((start + end) / 2, half), 100 - half);
        this.plot.dispatchAction({ type: "dataZoom", dataZoomIndex, start: middle - half, end: middle + half });
      });
      this.plot.dispatchAction({ type: "hideTip" });
      return windows.length > 0;
    }
  }

  window.heartCharts.draw = (element, parts) => new Chart(element, parts);
})();
