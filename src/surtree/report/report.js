/* A page that follows its reader: the group that is pointed at or chosen, and the questionnaire. */

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const tree = document.querySelector(".surtree-tree");
const items = [...tree.querySelectorAll("[data-node]")];
const itemOf = new Map(items.map((item) => [Number(item.dataset.node), item]));
const parentOf = new Map();
data.nodes.forEach((node, place) => {
  if (node.left === undefined) return;
  parentOf.set(node.left, place);
  parentOf.set(node.right, place);
});

function pathTo(node) {
  const path = [node];
  while (parentOf.has(path[0])) path.unshift(parentOf.get(path[0]));
  return path;
}

function leavesBelow(node) {
  const { left, right } = data.nodes[node];
  return left === undefined ? [String(node)] : [...leavesBelow(left), ...leavesBelow(right)];
}

function make(tag, text, parent, attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (parent) parent.append(made);
  return made;
}

const withUnit = (time) => (data.timeUnit ? `${time} ${data.timeUnit}` : time);

/* The chosen group. */

const sheet = byId("detail");
let selected = 0;
let shown = 0;

function figure(list, term, value, note = "") {
  const pair = make("div", "", list);
  make("dt", term, pair);
  const given = make("dd", value, pair);
  if (note) make("small", note, given);
}

function showHorizons(leaf) {
  const table = byId("detail-horizons");
  table.replaceChildren();
  if (!leaf || !leaf.horizons.length) return;
  const several = leaf.parts.map((part) => [
    part.label,
    (row) => (part.values[leaf.horizons.indexOf(row)] ? withLimits(...part.values[leaf.horizons.indexOf(row)]) : ""),
  ]);
  const columns = [["at", (row) => row.time], ...several, ...(several.length ? [] : [
    [leaf.observed ? "predicted" : "survival", (row) => percent(row.survival)],
    [leaf.limits.length ? "limits" : `${data.level} CI`, (row) => (row.lower === undefined ? "" : `${percent(row.lower)} to ${percent(row.upper)}`)],
    ["observed", (row) => (row.observed === undefined ? "" : percent(row.observed))],
    ["at risk", (row) => row.atRisk ?? ""],
  ])].filter(([, text]) => leaf.horizons.some((row) => text(row) !== ""));
  const limits = leaf.limits.length ? `; limits: ${data.limitsName}` : "";
  const what = leaf.parts.length ? data.curveName[0].toUpperCase() + data.curveName.slice(1) : "Survival";
  make("caption", `${what}${data.timeUnit ? `, time in ${data.timeUnit}` : ""}${limits}`, table, { class: "note" });
  const head = make("tr", "", make("thead", "", table));
  columns.forEach(([name]) => make("th", name, head, { scope: "col" }));
  const body = make("tbody", "", table);
  for (const row of leaf.horizons) {
    const line = make("tr", "", body);
    columns.forEach(([, text]) => make("td", text(row), line));
  }
}

function readOut(time) {
  const leaf = data.leaves[shown];
  const parts = [];
  if (leaf && leaf.parts.length) {
    const start = data.stacked ? 0 : 1;
    for (const part of leaf.parts) {
      if (time <= part.last) parts.push(`${part.label} ${percent(valueAt(part.times, part.survival, time, start))}`);
    }
    return `At ${withUnit(String(Number(time.toPrecision(3))))}: ${parts.join(", ")}`;
  }
  if (leaf && time > leaf.last) parts.push("nobody of this leaf is left at risk");
  else if (leaf) {
    const at = (values) => percent(valueAt(leaf.times, values, time));
    const limits = leaf.lower.length && !leaf.limits.length ? ` (${data.level} CI ${at(leaf.lower)} to ${at(leaf.upper)})` : "";
    parts.push(`this leaf ${at(leaf.survival)}${limits}`);
    const seen = leaf.observed;
    if (seen) parts.push(`observed ${percent(valueAt(seen.times, seen.survival, time))}`);
  }
  parts.push(`all rows ${percent(valueAt(data.everyone.times, data.everyone.survival, time))}`);
  return `At ${withUnit(String(Number(time.toPrecision(3))))}: ${parts.join(", ")}`;
}

function drawDetail() {
  const chart = drawCurves(byId("curves"), data, leavesBelow(shown));
  const readout = byId("readout");
  readout.textContent = "";
  chart.svg.addEventListener("pointermove", (event) => {
    const bounds = chart.svg.getBoundingClientRect();
    const place = Math.min(Math.max(event.clientX - bounds.left, chart.box.left), chart.box.right);
    chart.cross.setAttribute("x1", place);
    chart.cross.setAttribute("x2", place);
    chart.cross.setAttribute("visibility", "visible");
    readout.textContent = readOut(chart.timeAt(place));
  });
  chart.svg.addEventListener("pointerleave", () => {
    chart.cross.setAttribute("visibility", "hidden");
    readout.textContent = "";
  });
}

function show(node) {
  shown = node;
  const known = data.nodes[node];
  const leaf = data.leaves[node];
  const path = pathTo(node);
  for (const [place, item] of itemOf) item.classList.toggle("on-path", path.includes(place));

  const heading = byId("detail-heading");
  const title = leaf ? leaf.name : node === 0 ? "all rows" : `${leavesBelow(node).length} leaves together`;
  heading.textContent = title[0].toUpperCase() + title.slice(1);
  const dot = leaf && itemOf.get(node).querySelector(".surtree-dot");
  if (dot) heading.prepend(dot.cloneNode());
  const rules = byId("detail-path");
  rules.replaceChildren(...path.slice(1).map((step) => make("li", data.nodes[step].rule)));

  const figures = byId("detail-figures");
  figures.replaceChildren();
  known.figures.forEach((one) => figure(figures, ...one));
  showHorizons(leaf);
  drawDetail();
}

/** Hide or show what is below a split. */
function fold(node, closed) {
  const item = itemOf.get(node);
  if (data.nodes[node].left === undefined) return;
  item.classList.toggle("closed", closed);
  item.setAttribute("aria-expanded", String(!closed));
}

function select(node) {
  pathTo(node).slice(0, -1).forEach((place) => fold(place, false));
  itemOf.get(selected).removeAttribute("aria-selected");
  itemOf.get(selected).tabIndex = -1;
  selected = node;
  itemOf.get(node).setAttribute("aria-selected", "true");
  itemOf.get(node).tabIndex = 0;
  sheet.classList.toggle("follow", node !== 0);
  show(node);
}

/** On a small screen the group is a sheet over the page: what it is about stays in view. */
function openSheet(open) {
  sheet.classList.toggle("open", open);
  if (!open || getComputedStyle(sheet).position !== "fixed") return;
  itemOf.get(selected).querySelector(".surtree-node").scrollIntoView({ block: "start" });
}
byId("close").addEventListener("click", () => {
  openSheet(false);
  itemOf.get(selected).focus({ preventScroll: true });
});

const visible = (item) => !item.parentElement.closest(".closed");

function nodeOf(event) {
  const card = event.target.closest(".surtree-node");
  return card ? Number(card.parentElement.dataset.node) : null;
}

tree.addEventListener("click", (event) => {
  const node = nodeOf(event);
  if (node === null) return;
  select(node);
  itemOf.get(node).focus({ preventScroll: true });
  event.target.closest(".surtree-node").scrollIntoView({ block: "nearest" });
  openSheet(true);
});
tree.addEventListener("dblclick", (event) => {
  const node = nodeOf(event);
  if (node !== null) fold(node, !itemOf.get(node).classList.contains("closed"));
});
tree.addEventListener("pointerover", (event) => {
  const node = nodeOf(event);
  if (event.pointerType !== "touch" && node !== null && node !== shown) show(node);
});
tree.addEventListener("pointerleave", () => {
  if (shown !== selected) show(selected);
});
tree.addEventListener("keydown", (event) => {
  if (event.key === "-" || event.key === "+") fold(selected, event.key === "-");
  const place = items.indexOf(itemOf.get(selected));
  const { left } = data.nodes[selected];
  const move = {
    ArrowDown: () => items.slice(place + 1).find(visible),
    ArrowUp: () => items.slice(0, place).findLast(visible),
    ArrowRight: () => [itemOf.get(left)].find((item) => item && visible(item)),
    ArrowLeft: () => itemOf.get(parentOf.get(selected)),
    Home: () => items[0],
    End: () => items.findLast(visible),
    Enter: () => items[place],
    " ": () => items[place],
  }[event.key];
  if (!move || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  const item = move();
  if (!item) return;
  select(Number(item.dataset.node));
  item.focus();
  item.querySelector(".surtree-node").scrollIntoView({ block: "nearest" });
  if (event.key === "Enter" || event.key === " ") openSheet(true);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") openSheet(false);
});

/* The questionnaire. */

const form = byId("form");

/** What was answered: undefined for nothing, null for a missing value, a number or a choice. */
function answerOf(place) {
  const field = form.querySelector(`[data-field="${place}"]`);
  if (field.querySelector("input[type=checkbox]")?.checked) return null;
  const given = field.querySelector("input[type=radio]:checked, input[type=number], select");
  if (!given || given.value === "") return undefined;
  return given.value === "missing" ? null : Number(given.value);
}

function goesRight(node, answer) {
  if (answer === null) return node.missing;
  return node.threshold === undefined ? node.chosen.includes(answer) : answer > node.threshold;
}

/** The node where the answers lead, and the questions on the way. */
function walk(answers) {
  let place = 0;
  const asked = new Set();
  for (;;) {
    const node = data.nodes[place];
    if (node.left === undefined) return { place, asked, done: true };
    asked.add(node.field);
    if (answers[node.field] === undefined) return { place, asked, done: false };
    place = goesRight(node, answers[node.field]) ? node.right : node.left;
  }
}

/** Whether some leaf below a node is reached by way of a question. */
function mayAsk(place, field) {
  const node = data.nodes[place];
  if (node.left === undefined) return false;
  return node.field === field || mayAsk(node.left, field) || mayAsk(node.right, field);
}

function checkRanges(answers) {
  data.fields.forEach((field, place) => {
    if (!field.number) return;
    const hint = byId(`hint-${place}`);
    const answer = answers[place];
    const outside = typeof answer === "number" && (answer < field.seen[0] || answer > field.seen[1]);
    hint.classList.toggle("outside", outside);
    hint.textContent = outside ? `no such value in training: ${hint.dataset.text}` : hint.dataset.text;
  });
}

function tell(result) {
  const box = byId("answer");
  box.replaceChildren();
  byId("show").hidden = !result.done;
  byId("link").hidden = !result.done;
  if (!result.done) {
    const next = data.fields[data.nodes[result.place].field].name;
    make("p", `Next: ${next}. So far ${leavesBelow(result.place).length} groups are possible.`, box);
    return;
  }
  const leaf = data.leaves[result.place];
  const node = data.nodes[result.place];
  const unit = data.timeUnit ? ` ${data.timeUnit}` : "";
  const text = make("p", "", box);
  make("strong", leaf.name[0].toUpperCase() + leaf.name.slice(1), text);
  text.append(`: ${leaf.text}`);
  if (leaf.parts.length) {
    const times = leaf.horizons.map((row) => row.time);
    leaf.parts.forEach((part) => {
      const chances = part.values.map((value, place) => `${withLimits(...value)} at ${times[place]}`);
      if (chances.length) make("p", `${part.label}: ${data.curveName} ${chances.join(", ")}${unit}.`, box);
    });
  } else if (leaf.horizons.length) {
    const chances = leaf.horizons.map((row) => {
      const limits = row.lower === undefined ? "" : ` (${percent(row.lower)} to ${percent(row.upper)})`;
      return `${percent(row.survival)}${limits} at ${row.time}`;
    });
    const limited = leaf.horizons.some((row) => row.lower !== undefined);
    const brackets = limited ? ` In brackets: ${data.limitsName}.` : "";
    make("p", `Survival ${chances.join(", ")}${unit}.${brackets}`, box);
  }
  drawPeople(leaf, box);
  if (data.doubt) make("p", data.doubt, box, { class: "caveat" });
  if (leaf.again && leaf.again !== "reproduced") {
    make("p", `Other samples of such people have this group again only in part: it is ${leaf.again}.`, box, { class: "caveat" });
  }
  const events = leaf.none ? "No event" : `Only ${counted(node.events, "event")}`;
  const few = leaf.none || leaf.few ? ` ${events} among them: very unsure.` : "";
  make(
    "p",
    `How ${counted(node.rows, "row")} of the training table fared, in a group that was chosen on the same rows: ` +
      `no forecast for one person, and in new data groups will differ less.${few}`,
    box,
    { class: "caveat" },
  );
}

const withLimits = (value, lower, upper) =>
  percent(value) + (lower === undefined ? "" : ` (${percent(lower)} to ${percent(upper)})`);

/** Of 100 such people, how many have had no event by a time in the middle; of arms, each of them. */
function drawPeople(leaf, box) {
  const { parts, horizons } = leaf;
  const place = Math.ceil(horizons.length / 2) - 1;
  if (place < 0) return;
  const known = parts.filter((part) => part.values[place]);
  let groups = [["", [["", horizons[place].survival, leaf.colour]]]];
  if (parts.length && data.stacked) {
    groups = [["", known.map((part) => [part.label, part.values[place][0], part.colour])]];
  } else if (parts.length) {
    groups = known.map((part) => [`${part.label}: `, [["", part.values[place][0], part.colour]]]);
  }
  const row = make("div", "", box, { class: "people" });
  for (const [name, shares] of groups) {
    const figure = make("figure", "", row);
    let filled = 0;
    const counts = shares.map(([label, share, colour]) => {
      const end = Math.min(filled + Math.round(100 * share), 100);
      const part = { label, colour, from: filled, to: end };
      filled = end;
      return part;
    });
    const end = data.stacked ? "have had an event" : "have had no event";
    const text = `${name}of 100 such people, ${filled} ${end} by ${withUnit(String(horizons[place].time))}`;
    const svg = element("svg", { viewBox: "0 0 100 100", role: "img", "aria-label": text }, figure);
    for (let one = 0; one < 100; one += 1) {
      const part = counts.find(({ from, to }) => one >= from && one < to);
      const at = { x: 10 * (one % 10) + 1, y: 10 * Math.floor(one / 10) + 1, width: 8, height: 8, rx: 4 };
      element("rect", { ...at, class: part ? "person" : "other", style: part ? `--risk:${part.colour}` : "" }, svg);
    }
    make("figcaption", text[0].toUpperCase() + text.slice(1), figure);
  }
}

/* Answers in the address, so that a link leads to the group of a person. */

function linkText() {
  const given = data.fields.map((_, place) => {
    const field = form.querySelector(`[data-field="${place}"]`);
    if (field.querySelector("input[type=checkbox]")?.checked) return "-";
    const radio = field.querySelector("input[type=radio]:checked + span");
    if (radio) return encodeURIComponent(radio.textContent);
    const [option] = field.querySelector("select")?.selectedOptions ?? [];
    if (option) return option.value && encodeURIComponent(option.textContent);
    return field.querySelector("input[type=number]")?.value ?? "";
  });
  return `#q=${given.join(",")}`;
}

function readLink() {
  if (!location.hash.startsWith("#q=")) return;
  location.hash.slice(3).split(",").forEach((text, place) => {
    const field = form.querySelector(`[data-field="${place}"]`);
    if (!field || !text) return;
    const value = decodeURIComponent(text);
    const number = field.querySelector("input[type=number]");
    const missing = field.querySelector("input[type=checkbox]");
    if (missing && text === "-") missing.checked = true;
    else if (number) number.value = value;
    const same = (one) => one.textContent === value;
    const radio = [...field.querySelectorAll("input[type=radio] + span")].find(same);
    if (radio) radio.previousElementSibling.checked = true;
    const option = [...field.querySelectorAll("option")].find(same);
    if (option) option.selected = true;
  });
  byId("questions").scrollIntoView();
}

byId("link").addEventListener("click", () => {
  location.hash = linkText();
  navigator.clipboard?.writeText(location.href).catch(() => {});
});

/* Pictures and tables as files. */

function save(text, name, type) {
  const href = URL.createObjectURL(new Blob([text], { type }));
  make("a", "", null, { href, download: name }).click();
}

function saveSvg(svg, name) {
  const copy = svg.cloneNode(true);
  const drawn = [...svg.querySelectorAll("*")];
  [...copy.querySelectorAll("*")].forEach((part, place) => {
    const style = getComputedStyle(drawn[place]);
    for (const key of ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font", "visibility"]) {
      part.style.setProperty(key, style.getPropertyValue(key));
    }
  });
  copy.setAttribute("width", svg.clientWidth);
  save(new XMLSerializer().serializeToString(copy), name, "image/svg+xml");
}

function tableText(table) {
  const quoted = (cell) => `"${cell.innerText.replaceAll('"', '""').replace(/\s+/g, " ").trim()}"`;
  return [...table.rows].map((row) => [...row.cells].map(quoted).join(",")).join("\n");
}

byId("save-svg").addEventListener("click", () => saveSvg(byId("curves").querySelector("svg"), "curves.svg"));
document.querySelectorAll("main section[id]").forEach((section) => {
  if (!section.querySelector(".scroll > table")) return;
  const button = make("button", "CSV", null, { type: "button", class: "save", "aria-label": "Save the tables of this part as CSV" });
  section.querySelector("h2").after(button);
  button.addEventListener("click", () => {
    const tables = [...section.querySelectorAll(".scroll > table")].map(tableText);
    save(tables.join("\n\n"), `${section.id}.csv`, "text/csv");
  });
});
addEventListener("beforeprint", () => document.querySelectorAll("#tree-section details").forEach((one) => { one.open = true; }));

const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

function ask() {
  const answers = data.fields.map((_, place) => answerOf(place));
  form.querySelectorAll("input[type=number]").forEach((input) => {
    input.disabled = Boolean(input.parentElement.querySelector("input[type=checkbox]")?.checked);
  });
  checkRanges(answers);
  const result = walk(answers);
  data.fields.forEach((_, place) => {
    const needed = result.asked.has(place) || (!result.done && mayAsk(result.place, place));
    form.querySelector(`[data-field="${place}"]`).classList.toggle("unneeded", !needed);
  });
  tell(result);
  return result;
}

form.addEventListener("input", () => select(ask().place));
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(() => select(ask().place)));
byId("show").addEventListener("click", () => openSheet(true));

/* The pictures of sizes and scores. */

function drawSizes() {
  const host = byId("sizes");
  if (!host) return;
  const splits = data.sizes.map((size) => size.splits);
  const losses = data.sizes.map((size) => size.loss);
  const bounds = data.sizes.map((size) => size.bound);
  const series = [{ values: losses, kind: "series" }];
  if (losses.some((loss, place) => loss - bounds[place] > 1e-9 * Math.abs(loss))) {
    series.push({ values: bounds, kind: "second", name: data.explains ? "at most" : "lower bound" });
  }
  const yText = data.explains ? percent : (value) => String(Number(value.toPrecision(4)));
  const rings = [{ place: splits.indexOf(data.splits), text: "this tree" }];
  const what = data.explains ? "Share of the teacher explained by" : "Loss of";
  const yLabel = data.explains ? "explained of the teacher" : "loss, sum of all rows";
  drawSeries(host, { splits, series, rings, yText, yLabel, name: `${what} the best tree with each number of splits` });
}

function drawScores() {
  const host = byId("scores");
  if (!host) return;
  const { splits, mean, error, training, chosen, scoring, depth } = data.scores;
  const series = [{ values: mean, kind: "series" }];
  if (training.length) series.push({ values: training, kind: "second", name: "training rows" });
  const errors = error.includes(null) ? [] : error;
  const yText = (value) => String(Number(value.toPrecision(3)));
  const rings = [{ place: splits.indexOf(chosen), text: "chosen" }];
  const name = `Held-out ${scoring} of trees of depth up to ${depth}`;
  const yLabel = scoring === "loss" ? "held-out loss per row" : `held-out ${scoring}`;
  drawSeries(host, { splits, series, rings, yText, yLabel, name, errors });
}

/* Where there is room, the tree lies on its side. */

function arrange() {
  const em = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const depth = Number(tree.dataset.depth);
  // Beside the columns of questions there is the root, and the rule and the figures of a leaf.
  const room = tree.closest(".surtree").clientWidth / em - 6 - 32 - 1.6 * depth;
  const column = room / Math.max(depth, 1);
  tree.classList.toggle("wide", depth > 0 && column >= 8.5);
  tree.style.setProperty("--column", `${Math.min(column, 15)}rem`);
  // No wider than its rules: the eye must find from a rule to its curve.
  const wide = 8 + 38 + (Math.min(column, 15) + 1.6) * Math.max(depth - 1, 0);
  tree.parentElement.style.setProperty("--wide", `${wide}rem`);
}

let width = 0;
new ResizeObserver(() => {
  if (document.body.clientWidth === width) return;
  width = document.body.clientWidth;
  arrange();
  drawDetail();
  drawSizes();
  drawScores();
}).observe(document.body);

arrange();
data.nodes.forEach((_, node) => fold(node, false));
readLink();
const answered = ask();
select(answered.done ? answered.place : 0);
