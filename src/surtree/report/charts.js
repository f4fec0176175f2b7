"use strict";

/* Pictures of a page, drawn anew for every width so that their text keeps its size. */

function element(tag, attributes, parent) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (parent) parent.append(made);
  return made;
}

function label(text, attributes, parent) {
  element("text", attributes, parent).textContent = text;
}

/** Round values from low to high, about as many as asked for. */
function roundTicks(low, high, count) {
  const rough = (high - low) / Math.max(count, 1) || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((size) => size >= rough * 0.999);
  const ticks = [];
  for (let place = Math.ceil(low / step - 1e-9); place * step <= high + step * 1e-9; place += 1) {
    ticks.push(Number((place * step).toPrecision(12)));
  }
  return ticks;
}

/** Empty axes in a host element, and the scales that lead into them. */
function axes(host, { height, x, y, xTicks, yTicks, xLabel, yLabel, yText, name, margin = 14 }) {
  const width = Math.max(host.clientWidth, 200);
  const left = 12 + 7 * Math.max(...yTicks.map((tick) => yText(tick).length));
  const box = { left, right: width - margin, top: 26, bottom: height - 40 };
  const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": name });
  const toX = (value) => box.left + ((value - x[0]) / (x[1] - x[0] || 1)) * (box.right - box.left);
  const toY = (value) => box.bottom - ((value - y[0]) / (y[1] - y[0] || 1)) * (box.bottom - box.top);
  for (const tick of yTicks) {
    element("line", { class: "axis", x1: box.left, x2: box.right, y1: toY(tick), y2: toY(tick) }, svg);
    label(yText(tick), { x: box.left - 6, y: toY(tick) + 4, "text-anchor": "end" }, svg);
  }
  for (const tick of xTicks) {
    element("line", { class: "axis", x1: toX(tick), x2: toX(tick), y1: box.bottom, y2: box.bottom + 4 }, svg);
    label(String(tick), { x: toX(tick), y: box.bottom + 18, "text-anchor": "middle" }, svg);
  }
  label(xLabel, { x: (box.left + box.right) / 2, y: height - 4, "text-anchor": "middle" }, svg);
  label(yLabel, { x: 0, y: 12 }, svg);
  host.replaceChildren(svg);
  return { svg, toX, toY, box };
}

/** The path of a step function from time zero, as SVG, until some time. */
function stepPath(times, values, until, toX, toY, start = 1) {
  let path = `M${toX(0).toFixed(1)} ${toY(start).toFixed(1)}`;
  times.forEach((time, place) => {
    if (time <= until) path += `H${toX(time).toFixed(1)}V${toY(values[place]).toFixed(1)}`;
  });
  return `${path}H${toX(until).toFixed(1)}`;
}

/** The area between two step functions, until some time. */
function bandPath({ times, lower, upper }, until, toX, toY) {
  const back = [];
  for (let place = times.length - 1; place >= 0; place -= 1) {
    if (times[place] <= until) back.push(`V${toY(lower[place]).toFixed(1)}H${toX(times[place]).toFixed(1)}`);
  }
  return `${stepPath(times, upper, until, toX, toY)}${back.join("")}V${toY(1).toFixed(1)}Z`;
}

/** The value of a step function at a time. */
function valueAt(times, values, time, start = 1) {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? start : values[low - 1];
}

/* With more leaves than these, names of curves cover each other, and only that of all rows is shown. */
const MOST_LABELS = 8;

const percent = (share) => `${Math.round(100 * share)}%`;

/** Behind the curve of a leaf: its band, what was observed, and a tick where rows were censored. */
function drawObserved(curve, svg, toX, toY) {
  const { observed, last } = curve;
  const seen = observed || curve;
  const limits = (curve.limits || []).filter(([time, low]) => time <= last && low !== null);
  if (limits.length) {
    const at = ([time, value]) => `${toX(time).toFixed(1)} ${toY(value).toFixed(1)}`;
    const upper = [[0, 1], ...limits.map(([time, , high]) => [time, high])];
    const lower = limits.map(([time, low]) => [time, low]).reverse();
    const d = `M${[...upper, ...lower].map(at).join("L")}Z`;
    element("path", { class: "band", style: `--risk:${curve.colour}`, d }, svg);
  } else if (curve.lower.length) {
    element("path", { class: "band", style: `--risk:${curve.colour}`, d: bandPath(curve, last, toX, toY) }, svg);
  }
  if (observed) {
    element("path", { class: "observed", d: stepPath(observed.times, observed.survival, last, toX, toY) }, svg);
  }
  let ticks = "";
  for (const time of curve.censored) {
    const y = toY(valueAt(seen.times, seen.survival, time));
    ticks += `M${toX(time).toFixed(1)} ${(y - 4).toFixed(1)}v8`;
  }
  if (ticks) element("path", { class: "censored", d: ticks }, svg);
}

/** The number of each leaf beside the end of its curve, as near as can be without covering another. */
function labelCurves(named, svg, toX, toY, box) {
  const [wide, high] = [9, 12];
  const taken = [];
  const free = (x, y, width) =>
    y >= box.top && y <= box.bottom && taken.every((one) => Math.abs(one.y - y) >= high || one.x + one.width <= x || x + width <= one.x);
  const shifts = [0];
  for (let shift = 3; shift < box.bottom - box.top; shift += 3) shifts.push(-shift, shift);
  for (const curve of named) {
    const [x, y] = [toX(curve.last) + 5, toY(valueAt(curve.times, curve.survival, curve.last))];
    const width = wide * curve.label.length + 6;
    const shift = shifts.find((one) => free(x, y + one, width)) ?? 0;
    taken.push({ x, y: y + shift, width });
    const style = `--risk:${curve.colour}`;
    if (Math.abs(shift) > 6) {
      element("path", { class: "leader", style, d: `M${x - 5} ${y.toFixed(1)}L${x} ${(y + shift).toFixed(1)}` }, svg);
    }
    label(curve.label, { class: "end", style, x: x + 1, y: y + shift + 4 }, svg);
  }
}

/** The causes of a leaf, one on top of the other. */
function drawStack(parts, svg, toX, toY) {
  const until = parts[0].last;
  const times = [...new Set(parts.flatMap((part) => part.times))].filter((time) => time <= until);
  times.sort((one, other) => one - other);
  let below = times.map(() => 0);
  for (const part of parts) {
    const edge = times.map((time, place) => below[place] + valueAt(part.times, part.survival, time, 0));
    let d = stepPath(times, edge, until, toX, toY, 0);
    for (let place = times.length - 1; place >= 0; place -= 1) {
      d += `V${toY(below[place]).toFixed(1)}H${toX(times[place]).toFixed(1)}`;
    }
    element("path", { class: "area", style: `--risk:${part.colour}`, d: `${d}V${toY(0).toFixed(1)}Z` }, svg);
    below = edge;
  }
}

/** The arms or causes of one leaf, and above them which is which. */
function drawParts(host, { parts }, data, svg, toX, toY) {
  if (data.stacked) drawStack(parts, svg, toX, toY);
  for (const part of data.stacked ? [] : parts) {
    const style = `--risk:${part.colour}`;
    if (part.lower.length) element("path", { class: "band", style, d: bandPath(part, part.last, toX, toY) }, svg);
    element("path", { class: "curve high", style, d: stepPath(part.times, part.survival, part.last, toX, toY) }, svg);
  }
  const key = make("p", "", null, { class: "note" });
  parts.forEach((part) => make("span", part.label, key, { class: "channel", style: `--risk:${part.colour}` }));
  host.prepend(key);
}

/** All curves, those of some leaves strong; returns the scale of time. */
function drawCurves(host, data, leaves) {
  const width = host.clientWidth;
  // Room for a label to each curve.
  const least = Math.max(width * 0.42, 205, 66 + 12 * leaves.length);
  const alone = leaves.length === 1 && data.leaves[leaves[0]].parts.length ? data.leaves[leaves[0]] : null;
  const { svg, toX, toY, box } = axes(host, {
    height: Math.round(Math.min(least, 420)),
    x: [0, data.end],
    y: [0, 1],
    xTicks: roundTicks(0, data.end, width / 80),
    yTicks: [0, 0.25, 0.5, 0.75, 1],
    xLabel: data.timeLabel,
    yLabel: alone ? data.curveName : "survival",
    yText: percent,
    margin: 34,
    name: `${alone ? data.curveName : "survival"} over time of ${leaves.map((leaf) => data.leaves[leaf].name).join(", ")}`,
  });
  const cross = element("line", { class: "cross", y1: box.top, y2: box.bottom, visibility: "hidden" }, svg);
  const chart = { svg, cross, box, timeAt: (place) => ((place - box.left) / (box.right - box.left)) * data.end };
  if (alone) {
    drawParts(host, alone, data, svg, toX, toY);
    return chart;
  }
  const { everyone } = data;
  const named = [{ ...everyone, label: "all", colour: "var(--faint)" }];
  element("path", { class: "everyone", d: stepPath(everyone.times, everyone.survival, data.end, toX, toY) }, svg);
  const order = Object.keys(data.leaves).sort((one, other) => leaves.includes(one) - leaves.includes(other));
  for (const node of order) {
    const curve = data.leaves[node];
    const high = leaves.includes(node);
    if (high && leaves.length === 1) drawObserved(curve, svg, toX, toY);
    const d = stepPath(curve.times, curve.survival, curve.last, toX, toY);
    element("path", { class: high ? "curve high" : "curve", style: `--risk:${curve.colour}`, d }, svg);
    if (high && leaves.length <= MOST_LABELS) named.push(curve);
  }
  labelCurves(named, svg, toX, toY, box);
  return chart;
}

/** Points joined by a line, with a ring around one of them. */
function drawSeries(host, { splits, series, rings, yText, yLabel, name, errors }) {
  const all = series.flatMap((line) => line.values);
  (errors || []).forEach((error, place) => {
    all.push(series[0].values[place] + error, series[0].values[place] - error);
  });
  let [low, high] = [Math.min(...all), Math.max(...all)];
  const room = (high - low || Math.abs(high) || 1) * 0.08;
  [low, high] = [low - 2 * room, high + room];
  const width = host.clientWidth;
  const most = Math.max(...splits, 1);
  const { svg, toX, toY } = axes(host, {
    height: 260,
    x: [0, most],
    y: [low, high],
    xTicks: roundTicks(0, most, Math.min(width / 60, most)).filter(Number.isInteger),
    yTicks: roundTicks(low, high, 5),
    xLabel: "splits",
    yLabel,
    yText,
    name,
  });
  for (const { values, kind } of series) {
    const points = values.map((value, place) => `${toX(splits[place]).toFixed(1)} ${toY(value).toFixed(1)}`);
    element("path", { class: kind, d: `M${points.join("L")}` }, svg);
  }
  (errors || []).forEach((error, place) => {
    const [x, value] = [toX(splits[place]), series[0].values[place]];
    element("line", { class: "series", "stroke-opacity": 0.45, x1: x, x2: x, y1: toY(value - error), y2: toY(value + error) }, svg);
  });
  if (errors && errors.length) label("bars: one standard error", { x: width - 14, y: 12, "text-anchor": "end" }, svg);
  series[0].values.forEach((value, place) => {
    const dot = element("circle", { class: "dot", cx: toX(splits[place]), cy: toY(value), r: 3.5 }, svg);
    element("title", {}, dot).textContent = `${splits[place]} splits: ${yText(value)}`;
  });
  for (const { place, text } of rings) {
    const [x, y] = [toX(splits[place]), toY(series[0].values[place])];
    element("circle", { class: "ring", cx: x, cy: y, r: 8 }, svg);
    const end = x > width * 0.7;
    label(text, { class: "mark", x: x + (end ? 8 : 12), y: end ? y + 22 : y - 10, "text-anchor": end ? "end" : "start" }, svg);
  }
  const last = series[1];
  if (last) {
    const place = splits.length - 1;
    label(last.name, { x: toX(splits[place]), y: toY(last.values[place]) + 16, "text-anchor": "end" }, svg);
  }
}
