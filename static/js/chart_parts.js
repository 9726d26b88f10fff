/* What charts are made of: numbers in words, round ends of axes, and the parts that all kinds
   share. The library is told of them by chart_rows.js and chart_planes.js. */
"use strict";
(() => {
  const LETTER = 6.6; /* the mean width of one, to make room for labels */
  const STEPS = [1, 2, 2.5, 5, 10];
  const DASHES = ["solid", [7, 4], [2, 4]];

  const tidy = (value) => String(Number(value.toPrecision(10))).replace("-", "\u2212");
  const written = (axis) => (value) => tidy(value) + axis.unit;
  const kept = (rows, hidden) => rows.map((row, place) => ({ ...row, place })).filter((row) => !hidden.has(row.place));
  const known = (values) => values.filter((value) => value !== null && value !== undefined);
  const widest = (names) => Math.max(...names.map((name) => name.length)) * LETTER;

  /* The round ends of an axis that holds the values. */
  function ends(values) {
    const low = Math.min(...values);
    const high = Math.max(...values);
    const span = high - low || Math.abs(high) || 1;
    const power = 10 ** Math.floor(Math.log10(span / 5));
    const step = power * STEPS.find((one) => one * power >= span / 5 - 1e-12);
    const round = (value) => Number(value.toPrecision(10));
    const [first, last] = [Math.floor(low / step + 1e-9), Math.ceil(high / step - 1e-9)];
    return { min: round(first * step), max: round((last > first ? last : first + 1) * step), interval: step };
  }

  /* The same with equal steps for equal factors: 1, 2 and 5 times powers of ten. */
  function logEnds(values) {
    const powers = Array.from({ length: 25 }, (_, place) => 10 ** (place - 12));
    const round = powers.flatMap((power) => [1, 2, 5].map((one) => Number((one * power).toPrecision(3))));
    const min = round.findLast((value) => value <= Math.min(...values));
    const max = round.find((value) => value >= Math.max(...values));
    const between = round.filter((value) => value >= min && value <= max);
    return { type: "log", min, max, axisLabel: { customValues: between }, axisTick: { customValues: between } };
  }

  /* Round rings around a middle that lies below all values, as the server's radars have them. */
  function rings(values, least, number) {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const round = (most) => {
      const power = 10 ** Math.floor(Math.log10(most));
      return power * STEPS.find((one) => one * power >= most * (1 - 1e-9));
    };
    const below = (step) => (Math.floor(low / step + 1e-9) - 1) * step;
    let step = round(Math.max(least, (high - low) / number));
    while (high > below(step) + number * step * (1 + 1e-9)) step = round(1.01 * step);
    return { min: Number(below(step).toPrecision(10)), max: Number((below(step) + number * step).toPrecision(10)) };
  }

  function words(row, some) {
    const name = row.isSimulated ? `${row.name} (${some})` : row.name;
    return (name ? [name, ...row.said] : row.said).join("\n");
  }

  const axisOf = (axis, look, more) => ({
    type: "value",
    name: axis.label,
    nameLocation: "middle",
    nameTextStyle: { color: look.ink, fontSize: 13 },
    axisLine: { show: false },
    splitLine: { lineStyle: { color: look.line } },
    ...more,
    axisTick: { show: false, ...more.axisTick },
    axisLabel: { color: look.soft, fontSize: 12, hideOverlap: true, formatter: written(axis), ...more.axisLabel },
  });
  const across = (axis, look, more) => axisOf(axis, look, { nameGap: 30, ...more });
  const upright = (axis, look, more) => axisOf(axis, look, {
    ...more, nameLocation: "end", nameGap: 12, nameTextStyle: { color: look.ink, fontSize: 13, align: "left" },
  });

  const line = (look, at) => ({
    silent: true, symbol: "none", animation: false,
    lineStyle: { color: look.strong, type: [5, 4], width: 1 },
    label: { color: look.soft, fontSize: 12, formatter: ({ value }) => tidy(value) },
    data: at,
  });
  const inside = (axes) => ({
    type: "inside", ...axes, filterMode: "none", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false, preventDefaultMouseMove: false,
  });
  const slider = (look, more) => ({
    type: "slider", showDetail: false, brushSelect: false, borderColor: look.line, backgroundColor: "transparent",
    fillerColor: look.wash, handleStyle: { color: look.surface, borderColor: look.strong },
    moveHandleStyle: { color: look.strong }, dataBackground: { lineStyle: { opacity: 0 }, areaStyle: { opacity: 0 } },
    selectedDataBackground: { lineStyle: { opacity: 0 }, areaStyle: { opacity: 0 } }, ...more,
  });

  function stroke(from, to, style) {
    return { type: "line", shape: { x1: from[0], y1: from[1], x2: to[0], y2: to[1] }, style };
  }

  /* Colour and dash of a line: after all colours, again with the next dash. */
  function lineStyle(place, look) {
    const colour = look.colours[place % look.colours.length];
    return { color: colour, width: 2, type: DASHES[Math.floor(place / look.colours.length) % DASHES.length] };
  }

  /* Stops at each item of the first series. */
  const stopsOf = (data) => data.map((one, dataIndex) => ({ seriesIndex: 0, dataIndex, text: one.said }));

  window.heartCharts = {
    kinds: {},
    parts: { tidy, kept, known, widest, ends, logEnds, rings, written, words, across, upright, line, inside, slider, stroke, lineStyle, stopsOf },
  };
})();
