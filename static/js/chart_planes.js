/* Charts over two axes or around one point: dots, lines, funnels and radars. Each kind is a pure
   function, as chart_rows.js has it. */
"use strict";
(() => {
  const MOST_LABELS = 30;
  const GAP = 4;
  const LABEL = 16; /* of a label; the library's own measure leaves out most of it */
  const OUTLINES = ["solid", [8, 4], [2, 3], [10, 3, 2, 3]];
  const NOWHERE = { x: -9999, y: 0 };
  const { kinds, parts: { kept, known, widest, ends, logEnds, rings, written, words, across, upright, line, inside, stroke, lineStyle, stopsOf } } = window.heartCharts;

  const isApart = (one, other) => one.x + one.width <= other.x || other.x + other.width <= one.x
    || one.y + one.height <= other.y || other.y + other.height <= one.y;

  /* Name dots one by one where nothing is in the way: right, left, above or below; else not. */
  function besideDots(room) {
    let taken = [];
    return ({ dataIndex, labelRect: { width }, rect }) => {
      if (dataIndex === 0) taken = [];
      const [middle, level] = [rect.x + rect.width / 2, rect.y + rect.height / 2];
      const places = [
        [rect.x + rect.width + GAP, level - LABEL / 2], [rect.x - GAP - width, level - LABEL / 2],
        [middle - width / 2, rect.y - GAP - LABEL], [middle - width / 2, rect.y + rect.height + GAP],
      ].map(([x, y]) => ({ x, y, width, height: LABEL }));
      const isFree = (box) => box.x >= 0 && box.x + width <= room && taken.every((one) => isApart(one, box));
      const found = places.find(isFree);
      taken.push(rect, ...(found ? [found] : []));
      return found ? { x: found.x, y: found.y + LABEL / 2, align: "left", verticalAlign: "middle" } : NOWHERE;
    };
  }

  function dots(rows, look) {
    return {
      type: "scatter", symbolSize: 11, z: 3,
      data: rows.map((row) => ({ value: [row.x, row.y], name: row.name, said: words(row, look.some) })),
      itemStyle: { color: look.accent, borderColor: look.surface, borderWidth: 1.5, opacity: 1 },
      emphasis: { scale: 1.3, itemStyle: { borderColor: look.ink } },
      label: { show: rows.length <= MOST_LABELS, position: "right", color: look.ink, fontSize: 12, formatter: "{b}", width: 150, overflow: "truncate" },
      labelLayout: besideDots(look.width),
    };
  }

  function bars(rows, look) {
    const data = rows.filter((row) => row.low !== undefined && row.low !== null).map((row) => [row.x, row.low, row.high]);
    const drawn = (_, api) => stroke(
      api.coord([api.value(0), api.value(1)]), api.coord([api.value(0), api.value(2)]), { stroke: look.soft, lineWidth: 1.5, opacity: 0.6 });
    return { type: "custom", renderItem: drawn, data, silent: true, encode: { x: 0, y: [1, 2] }, clip: true, tooltip: { show: false } };
  }

  function plane(parts, look, axes, series, stops) {
    return {
      height: look.width < 520 ? 340 : 420,
      zooms: true,
      stops,
      option: {
        grid: { left: 12, right: 20, top: 36, bottom: 14, outerBoundsMode: "same", outerBounds: { left: 6, right: 6, top: 12, bottom: 8 } },
        ...axes,
        dataZoom: [inside({ xAxisIndex: 0 }), inside({ yAxisIndex: 0 })],
        series,
      },
    };
  }

  function points(parts, look, hidden) {
    const rows = kept(parts.rows, hidden);
    const xs = known([...rows.map((row) => row.x), parts.x.mark]);
    const ys = known(rows.flatMap((row) => [row.y, row.low, row.high]));
    const both = ends([...xs, ...ys]);
    const xEnds = parts.x.isLogarithmic ? logEnds(xs) : ends(xs);
    const corners = [[both.min, both.min], [both.max, both.max]];
    const diagonal = { type: "line", data: corners, silent: true, symbol: "none", lineStyle: { color: look.strong, type: [5, 4], width: 1 }, tooltip: { show: false } };
    const axes = {
      xAxis: across(parts.x, look, parts.hasDiagonal ? both : xEnds),
      yAxis: upright(parts.y, look, parts.hasDiagonal ? both : ends(ys)),
    };
    const marked = known([parts.x.mark]).map((at) => ({ xAxis: at }));
    const series = [{ ...dots(rows, look), markLine: line(look, marked) }, bars(rows, look), ...(parts.hasDiagonal ? [diagonal] : [])];
    return plane(parts, look, axes, series, stopsOf(series[0].data));
  }

  function funnel(parts, look, hidden) {
    const rows = kept(parts.rows, hidden);
    const types = { centre: "solid", low: [7, 4], high: [7, 4], outer_low: [2, 3], outer_high: [2, 3] };
    const limits = Object.entries(types).map(([key, type]) => ({
      type: "line", data: parts.limits[key], silent: true, symbol: "none", animation: false, tooltip: { show: false },
      lineStyle: { color: look.strong, width: 1.25, type },
    }));
    const every = Object.values(parts.limits).flat();
    const axes = {
      xAxis: across(parts.x, look, ends([...rows, ...every].map((one) => one.x ?? one[0]))),
      yAxis: upright(parts.y, look, ends([...rows, ...every].map((one) => one.y ?? one[1]))),
    };
    const drawn = dots(rows, look);
    const outside = { itemStyle: { color: look.surface, borderColor: look.warn, borderWidth: 2.5 }, label: { show: true } };
    drawn.data = drawn.data.map((one, n) => (rows[n].isOutside ? { ...one, ...outside } : one));
    drawn.label.show = false; /* only names of those outside */
    return plane(parts, look, axes, [drawn, ...limits], stopsOf(drawn.data));
  }

  function lines(parts, look, hidden) {
    const shown = kept(parts.series, hidden);
    const isWide = look.width >= 620;
    const series = shown.map((one) => ({
      type: "line", name: one.name, data: parts.places.map((place, n) => [place, one.values[n] ?? "-"]),
      color: lineStyle(one.place, look).color, lineStyle: lineStyle(one.place, look),
      symbol: "circle", symbolSize: 6, showSymbol: parts.places.length <= 60, emphasis: { focus: "series" },
      endLabel: { show: isWide && shown.length <= 20, formatter: "{a}", color: "inherit", fontSize: 12, width: 150, overflow: "truncate", minMargin: 12 },
      labelLayout: { moveOverlap: "shiftY" },
    }));
    if (series.length && parts.marks.length) series[0].markLine = { ...line(look, parts.marks.map((at) => ({ xAxis: at }))), label: { show: false } };
    const text = (n) => [parts.said[n], ...shown
      .filter((one) => one.values[n] !== null)
      .sort((a, b) => b.values[n] - a.values[n])
      .map((one) => `${one.name}: ${one.texts[n]}`)].join("\n");
    const values = known(shown.flatMap((one) => one.values));
    const time = { type: "time", axisLabel: { formatter: null } };
    const axes = {
      xAxis: across(parts.x, look, parts.x.isTime ? time : { min: "dataMin", max: "dataMax" }),
      yAxis: upright(parts.y, look, ends(values.length ? values : [0, 1])),
    };
    const stops = parts.places.map((_, dataIndex) => ({ seriesIndex: 0, dataIndex, text: text(dataIndex) }));
    const drawn = plane(parts, look, axes, series, series.length ? stops : []);
    drawn.option.useUTC = true;
    drawn.option.dataZoom = [inside({ xAxisIndex: 0 })];
    drawn.option.tooltip = { trigger: "axis", formatter: ([one]) => text(one.dataIndex), axisPointer: { lineStyle: { color: look.strong } } };
    if (isWide) drawn.option.grid.right = 160;
    return drawn;
  }

  /* Axes of a radar on a phone: a word a line, long ones in two. */
  const broken = (name) => name.split(/ |(?<=-)/).map((word) => (word.length > 12 ? `${word.slice(0, 10)}-\n${word.slice(10)}` : word)).join("\n");

  /* A few polygons at a time; each place among them has its own colour and dash. */
  function radar(parts, look, hidden) {
    const isNarrow = look.width < 520;
    const rows = kept(parts.rows, hidden);
    const data = rows.map((row, style) => {
      const color = look.colours[style % look.colours.length];
      return {
        name: row.name, value: row.values.map((one) => one ?? "-"), said: words(row, look.some), itemStyle: { color },
        lineStyle: { color, width: 2.25, type: OUTLINES[style % OUTLINES.length] }, areaStyle: { color, opacity: 0.05 },
      };
    });
    const scale = rings(known(rows.flatMap((row) => row.values)).concat(rows.length ? [] : [0, 1]), parts.least, parts.rings);
    const isMarked = parts.mark !== null && parts.mark > scale.min && parts.mark <= scale.max;
    const isTight = isNarrow && widest(parts.axes) > 60;
    const values = { show: true, color: look.soft, fontSize: 11, showMinLabel: false, formatter: written(parts) };
    const mark = {
      value: parts.axes.map(() => parts.mark), symbol: "none", tooltip: { show: false }, lineStyle: { color: look.strong, width: 1.25, type: [3, 3] },
    };
    const unheard = !isMarked ? [] : [{ type: "radar", data: [mark], silent: true, z: 1 }];
    return {
      height: isNarrow ? 340 : 440,
      stops: stopsOf(data),
      option: {
        radar: {
          indicator: parts.axes.map((name, place) => ({ name, ...scale, axisLabel: place ? { show: false } : values })), splitNumber: parts.rings,
          radius: isTight ? "48%" : "70%", center: ["50%", "54%"],
          axisName: { color: look.ink, fontSize: 12, lineHeight: 15, formatter: isTight ? broken : undefined },
          splitArea: { show: false }, splitLine: { lineStyle: { color: look.line } }, axisLine: { lineStyle: { color: look.line } },
        },
        series: [{ type: "radar", data, symbolSize: 6, emphasis: { lineStyle: { width: 3.5 } } }, ...unheard],
      },
    };
  }

  Object.assign(kinds, { points, funnel, lines, radar });
})();
