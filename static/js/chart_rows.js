/* Charts with a row for each row of the table: heat maps and intervals.

   Each kind is a pure function of a chart's parts, the look of the page, and the places of what
   the reader has hidden. It returns the option, its height, and `stops`: the values in the order in
   which keys go through them, with their words. `stride` is how far up and down go. */
"use strict";
(() => {
  const ROW = 26;
  const TALL_ROW = 38; /* holds two lines */
  const ROWS_AT_ONCE = 20;
  const CELL = 30;
  const BETWEEN = " \u00b7 "; /* the names of a row */
  const { kinds, parts: { tidy, kept, known, widest, ends, words, across, line, slider, stroke, stopsOf } } = window.heartCharts;

  function heat(parts, look) {
    const left = Math.min(widest(parts.rows) + 16, look.width * 0.38);
    const cell = Math.max(CELL, (look.width - left - 8) / parts.columns.length);
    const isTurned = widest(parts.columns) > 2 * cell;
    const top = isTurned ? Math.min(widest(parts.columns) + 14, 150) : 44;
    const height = Math.max(CELL, Math.min(cell, 34));
    const values = parts.rows.flatMap((row, y) => parts.columns.map((column, x) => {
      const text = parts.texts[y][x];
      return { value: [x, y, parts.values[y][x] ?? "-"], text, said: `${row}\n${column}: ${text}` };
    }));
    const label = { color: look.ink, fontSize: 12, interval: 0, overflow: "truncate" };
    const bare = { axisTick: { show: false }, axisLine: { show: false }, splitLine: { show: false } };
    const shade = (colour) => look.mix(look.surface, colour, 0.45);
    return {
      height: top + height * parts.rows.length + 54,
      width: left + cell * parts.columns.length + 8,
      stride: parts.columns.length,
      stops: stopsOf(values),
      option: {
        grid: { left, right: 8, top: top, bottom: 54, outerBoundsMode: "none" },
        xAxis: {
          type: "category", data: parts.columns, position: "top", ...bare,
          axisLabel: isTurned ? { ...label, rotate: 90, width: top - 14 } : { ...label, width: cell - 6, overflow: "break", lineHeight: 15 },
        },
        yAxis: { type: "category", data: parts.rows, inverse: true, ...bare, axisLabel: { ...label, width: left - 10 } },
        visualMap: {
          type: "continuous", min: parts.lowest, max: parts.middle + parts.reach, dimension: 2,
          inRange: { color: [...(parts.lowest < parts.middle ? [shade(look.warn)] : []), look.surface, shade(look.accent)] },
          orient: "horizontal", left: 8, bottom: 4, itemWidth: 10, itemHeight: 150,
          text: [parts.middle + parts.reach, parts.lowest].map((end) => tidy(Number(end.toPrecision(2))) + parts.unit),
          textStyle: { color: look.soft },
        },
        series: [{
          type: "heatmap", data: values,
          label: { show: cell >= 38, color: look.ink, fontSize: 12, formatter: ({ data }) => data.text.replace(parts.unit, "") },
          itemStyle: { borderColor: look.surface, borderWidth: 1 },
          emphasis: { itemStyle: { borderColor: look.ink, borderWidth: 1.5 } },
        }],
      },
    };
  }

  function whiskers(parts, look, hidden) {
    const rows = kept(parts.rows, hidden);
    const wanted = widest(rows.map((row) => row.name)) + 12;
    const left = Math.min(wanted, look.width * 0.42);
    const isBroken = wanted > left && rows.some((row) => row.name.includes(BETWEEN));
    const named = (name) => (isBroken ? name.replace(BETWEEN, "\n") : name);
    const isLong = rows.length > ROWS_AT_ONCE;
    const values = rows.map((row, place) => ({
      value: [row.value, place, row.low, row.high, row.jointLow ?? "-", row.jointHigh ?? "-"], said: words(row, look.some),
    }));
    const reach = known(rows.flatMap((row) => [row.low, row.high, row.jointLow, row.jointHigh, row.value]));
    const drawn = (params, api) => {
      const at = (n) => api.coord([api.value(n), params.dataIndex]);
      const marks = [stroke(at(2), at(3), { stroke: look.soft, lineWidth: 2 })];
      if (Number.isFinite(api.value(4))) marks.unshift(stroke(at(4), at(5), { stroke: look.soft, lineWidth: 8, opacity: 0.22 }));
      const [cx, cy] = at(0);
      const isHollow = rows[params.dataIndex].isHollow;
      const style = { fill: isHollow ? look.surface : look.accent, stroke: isHollow ? look.accent : look.surface, lineWidth: isHollow ? 2 : 1 };
      const dot = { type: "circle", shape: { cx, cy, r: 5 }, style, emphasis: { style: { stroke: look.ink, lineWidth: 2 } } };
      return { type: "group", children: [...marks, dot] };
    };
    return {
      height: Math.min(rows.length, ROWS_AT_ONCE) * (isBroken ? TALL_ROW : ROW) + 72,
      stops: stopsOf(values).map((stop) => ({ ...stop, row: stop.dataIndex })),
      option: {
        grid: { left, right: isLong ? 34 : 26, top: 26, bottom: 46, outerBoundsMode: "none" },
        xAxis: across(parts.x, look, ends(reach)),
        yAxis: {
          type: "category", data: rows.map((row) => row.name), inverse: true, axisTick: { show: false }, axisLine: { show: false },
          axisLabel: { color: look.ink, fontSize: 12, interval: 0, width: left - 10, overflow: "truncate", lineHeight: 15, formatter: named },
        },
        dataZoom: isLong ? [slider(look, { yAxisIndex: 0, right: 2, width: 14, startValue: 0, endValue: ROWS_AT_ONCE - 1, filterMode: "weakFilter" })] : [],
        series: [
          { type: "custom", renderItem: drawn, data: values, encode: { x: [0, 2, 3], y: 1 }, clip: true },
          { type: "line", data: [], markLine: parts.centre === null ? undefined : { ...line(look, [{ xAxis: parts.centre }]), label: { show: false } } },
        ],
      },
    };
  }

  Object.assign(kinds, { heat, whiskers });
})();
