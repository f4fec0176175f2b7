/* The explorer: one question swapped for another, what it costs, whom it moves, and one person. */

const explorer = data.explorer;
// Dots further out than this share of what the best tree explains are at the end.
const FARTHEST = 0.3;
// A state is a tree, and how its reader came there: by a swap, in the tree of another state.
const best = explorer && { tree: explorer.trees[explorer.best], share: 0, moved: 0, path: "", keep: {}, made: [] };
let chosen = best;
const earlier = [];
const keptTrees = [];
let opened = null;
// Where rows are in the page, it searches for trees itself.
let solver = null;

const isLeaf = (node) => node.length === 4;
const isSame = (node, other) => node === other || JSON.stringify(node) === JSON.stringify(other);
const costText = (share) => (share === 0 ? "0 %" : share < 0.0005 ? "under 0.1 %" : `+${(100 * share).toFixed(1)} %`);
const signed = (value) => `${value < 0 ? "\u2212" : "+"}${Math.abs(value).toFixed(4)}`;

function heldOutText({ difference, error }) {
  if (difference === undefined) return "";
  if (difference === 0) return "held-out loss: the same";
  const sure = Math.abs(difference) > error;
  const words = sure ? `${difference < 0 ? "better" : "worse"} by more than one standard error` : "within one standard error";
  return `held-out loss ${signed(difference)} \u00b1 ${error.toFixed(4)}, ${words}`;
}

const movedText = (swap) => `${swap.moved} of ${counted(explorer.rows, "row")} moved`;

function samplesText(path, column) {
  if (!explorer.samples) return "";
  const known = explorer.columns[column];
  return path === ""
    ? `asked first in ${percent(known.first ?? 0)} of ${explorer.samples} samples`
    : `asked somewhere in ${percent(known.any ?? 0)} of ${explorer.samples} samples`;
}

const leavesOf = (node) => (isLeaf(node) ? 1 : leavesOf(node[1]) + leavesOf(node[2]));

/** What holds for the rows of a node of a tree. */
function belowOf(tree, path) {
  const rules = [];
  let node = tree;
  for (const answer of path) {
    rules.push(explorer.questions[node[0]][answer === "y" ? "yes" : "no"]);
    node = node[answer === "y" ? 2 : 1];
  }
  return rules.join(" and ") || "all rows";
}

/** The swaps at a split of a state; nothing where they are not known. */
function swapsAt(state, path) {
  if (solver) return solvedSwaps(state, path);
  if (state === best) return explorer.solver ? undefined : explorer.nodes.find((one) => one.path === path)?.swaps;
  if (state.next?.[path]) return state.next[path];
  return state.path.startsWith(path) ? swapsAt(state.parent, path) : undefined;
}

/** The state that a swap leads to. */
function stateOf(state, path, swap) {
  if (!solver && state !== best && !state.next?.[path]) return stateOf(state.parent, path, swap);
  const tree = treeOf(swap);
  if (isSame(tree, best.tree)) return best;
  if (!swap.state) {
    // A swap drops those at its node and below it.
    const { column, question, share, moved, difference, error, next, keep, solved } = swap;
    swap.state = { column, question, share, moved, difference, error, next, keep, solved, tree, path, parent: state };
    swap.state.made = [...state.made.filter((one) => !one.path.startsWith(path)), swap.state];
  }
  return swap.state;
}

const treeOf = (swap) => (typeof swap.tree === "number" ? explorer.trees[swap.tree] : swap.tree);
const choiceText = (state) => `${explorer.questions[state.question].yes}, asked of ${belowOf(state.tree, state.path)}`;

/* With rows: the solver's trees as those of the page, and swaps that are found when they are asked for. */

function startSolver() {
  solver = new Solver(explorer.solver);
  const bytes = bytesOf(explorer.solver.happened);
  solver.happened = solver.all.map((row) => bitOf(bytes, row));
  best.solved = solver.tree({});
  best.tree = nestedOf(best.solved);
  solver.survival = new Float64Array(solver.n);
  eachLeaf(best.solved, ({ rows }) => rows.forEach((row) => { solver.survival[row] = survivalAt(rows); }));
}

const survivalAt = (rows) => Math.exp(-solver.risk(rows) * explorer.solver.baseline);

function eachLeaf(tree, visit) {
  if (tree.rows) visit(tree);
  else tree.sides.forEach((side) => eachLeaf(side, visit));
}

function colourOf(risk) {
  const { colours, full } = explorer.solver;
  const place = ((1 + Math.max(-1, Math.min(1, Math.log(risk) / Math.log(full)))) / 2) * (colours.length - 1);
  const first = Math.min(Math.floor(place), colours.length - 2);
  const mixed = colours[first].map((low, k) => Math.round(low + (place - first) * (colours[first + 1][k] - low)));
  return `rgb(${mixed.join(" ")})`;
}

function nestedOf({ rows, cut, sides }) {
  if (!rows) return [explorer.solver.questions[cut], ...sides.map(nestedOf)];
  const events = rows.reduce((total, row) => total + solver.happened[row], 0);
  return [rows.length, events, survivalAt(rows), colourOf(solver.risk(rows))];
}

function solvedSwaps(state, path) {
  state.known ??= {};
  if (state.known[path]) return state.known[path];
  const keep = {};
  let node = state.solved;
  for (const [kept, cut] of Object.entries(state.keep)) if (!kept.startsWith(path)) keep[kept] = cut;
  for (let place = 0; place < path.length; place += 1) {
    keep[path.slice(0, place)] = node.cut;
    node = node.sides["ny".indexOf(path[place])];
  }
  const byColumn = new Map();
  solver.prices(state.solved, path, keep).forEach((gain, cut) => {
    const { column } = explorer.questions[explorer.solver.questions[cut]];
    const known = byColumn.get(column);
    const better = !known || gain > known.gain + solver.rounding || (cut === node.cut && gain > known.gain - solver.rounding);
    if (Number.isFinite(gain) && better) byColumn.set(column, { gain, cut, column });
  });
  state.known[path] = [...byColumn.values()]
    .sort((one, other) => other.gain - one.gain)
    .map(({ gain, cut, column }) => {
      const missed = solver.best - gain;
      const share = missed > solver.rounding ? missed / (solver.best - solver.leaf) : 0;
      const swap = new SolvedSwap(column, cut, share, { ...keep, [path]: cut });
      const { difference, error } = (state === best && explorer.nodes.find((one) => one.path === path)?.swaps.find((one) => one.question === swap.question)) || {};
      return Object.assign(swap, { difference, error });
    });
  return state.known[path];
}

class SolvedSwap {
  constructor(column, cut, share, keep) {
    Object.assign(this, { column, share, keep, question: explorer.solver.questions[cut] });
  }

  find() {
    if (this.found) return this.found;
    const solved = solver.tree(this.keep);
    let moved = 0;
    eachLeaf(solved, ({ rows }) => {
      const survival = survivalAt(rows);
      rows.forEach((row) => { moved += Math.abs(survival - solver.survival[row]) > explorer.moved; });
    });
    this.found = { solved, moved, tree: nestedOf(solved) };
    return this.found;
  }

  get tree() { return this.find().tree; }
  get moved() { return this.find().moved; }
  get solved() { return this.find().solved; }
}

function drawDots(swaps, asked, parent) {
  const svg = element("svg", { class: "dots", viewBox: "0 0 320 18", "aria-hidden": "true" }, parent);
  element("line", { x1: 5, x2: 275, y1: 9, y2: 9 }, svg);
  for (const swap of [...swaps].reverse()) {
    const far = swap.share > FARTHEST;
    const kind = `${swap.question === asked ? "now" : ""}${far ? " far" : ""}`;
    element("circle", { class: kind, cx: 5 + 270 * Math.min(swap.share / FARTHEST, 1), cy: 9, r: swap.question === asked ? 5.5 : 4.5 }, svg);
  }
  label(`${100 * FARTHEST} %`, { x: 283, y: 13 }, svg);
}

function drawSwaps(swaps, path, parent) {
  const list = make("ul", "", parent, { class: "swaps", "aria-label": `Columns to ask about: ${belowOf(chosen.tree, path)}` });
  for (const swap of swaps) {
    const asked = explorer.questions[swap.question];
    const button = make("button", "", make("li", "", list), { type: "button", "aria-pressed": String(isAsked(path, swap)) });
    make("span", asked.yes, button, { class: "rule" });
    const bar = make("i", "", button, { "aria-hidden": "true" });
    bar.style.setProperty("--share", Math.min(swap.share / FARTHEST, 1));
    make("b", costText(swap.share), button);
    const own = isSame(treeOf(swap), best.tree);
    const notes = own ? ["the tree as it is"] : [movedText(swap), heldOutText(swap)];
    notes.push(samplesText(path, swap.column));
    make("small", notes.filter(Boolean).join("; "), button);
    button.addEventListener("click", () => choose(path, swap));
  }
}

function isAsked(path, swap) {
  let node = chosen.tree;
  for (const answer of path) node = isLeaf(node) ? node : node[answer === "y" ? 2 : 1];
  return !isLeaf(node) && node[0] === swap.question;
}

function drawNode(node, path, answer, parent) {
  const item = make("li", "", parent);
  if (answer) make("span", answer, item, { class: "answer-is" });
  if (isLeaf(node)) {
    const [rows, events, survival, colour] = node;
    const leaf = make("p", "", item, { class: "end" });
    make("i", "", leaf, { class: "surtree-dot", style: `--risk:${colour}` });
    make("b", percent(survival), leaf);
    leaf.append(` survival at ${withUnit(explorer.horizon)} `);
    make("small", `${counted(rows, "row")}, ${counted(events, "event")}`, leaf);
    return;
  }
  const [number, no, yes] = node;
  const asked = explorer.questions[number];
  const known = swapsAt(chosen, path);
  const own = chosen.made.some((one) => one.path === path);
  if (known) {
    const button = make("button", "", item, { type: "button", class: own ? "ask own" : "ask", "aria-expanded": String(opened === path), "data-path": path });
    make("b", `${asked.yes}?`, button);
    make("span", own ? "your choice" : "swap", button, { class: "hint-word" });
    drawDots(known, number, button);
    button.addEventListener("click", () => {
      opened = opened === path ? null : path;
      drawExplorer(path);
    });
    if (opened === path) drawSwaps(known, path, item);
  } else make("p", `${asked.yes}?`, item, { class: "ask" });
  const below = make("ul", "", item);
  drawNode(yes, `${path}y`, "yes", below);
  drawNode(no, `${path}n`, "no", below);
}

function choose(path, swap) {
  const next = stateOf(chosen, path, swap);
  if (next === chosen) return;
  earlier.push(chosen);
  chosen = next;
  opened = path;
  drawExplorer(path);
}

function drawNow() {
  const host = byId("explore-now");
  host.replaceChildren();
  const list = make("dl", "", host, { class: "figures" });
  const { made } = chosen;
  const asks = made.map((one) => explorer.questions[one.question].yes).join(", then ");
  const place = made.length === 1 ? `asked of ${belowOf(chosen.tree, chosen.path)}` : made.length ? `${made.length} questions of your choice` : "";
  figure(list, "this tree", made.length ? `asks ${asks}` : explorer.proven ? "the best one, proven" : "the best one found", place);
  figure(list, made.length > 1 ? "cost of your choices" : "cost of your choice", costText(chosen.share), "of what the best tree explains");
  figure(list, "rows moved", String(chosen.moved), `of ${explorer.rows}`);
  figure(list, "leaves", String(leavesOf(chosen.tree)));
  if (chosen !== best && heldOutText(chosen)) figure(list, "on held-out rows", heldOutText(chosen).replace("held-out loss ", "loss "));
}

function drawButtons() {
  const host = byId("explore-buttons");
  host.replaceChildren();
  const act = (text, action, disabled) => {
    const button = make("button", text, host, { type: "button" });
    button.disabled = disabled;
    button.addEventListener("click", () => {
      action();
      drawExplorer();
      [...host.children].find((one) => one.textContent === text && !one.disabled)?.focus();
    });
  };
  act("Undo", () => { chosen = earlier.pop(); }, earlier.length === 0);
  act("Back to the best tree", () => { earlier.push(chosen); chosen = best; }, chosen === best);
  act("Keep this tree", () => keptTrees.push(chosen), chosen === best || keptTrees.includes(chosen));
}

function drawKept() {
  const host = byId("explore-kept");
  host.replaceChildren();
  if (!keptTrees.length) return;
  make("h3", "Kept trees", host);
  const holder = make("div", "", host, { class: "scroll", tabindex: "0", role: "region", "aria-label": "Kept trees" });
  const table = make("table", "", holder, { class: "numbers" });
  const head = make("tr", "", make("thead", "", table));
  const compared = explorer.folds > 0;
  ["tree", "cost", "rows moved", ...(compared ? ["held-out loss"] : []), ""].forEach((name) => make(name ? "th" : "td", name, head, name ? { scope: "col" } : {}));
  const body = make("tbody", "", table);
  for (const state of [best, ...keptTrees]) {
    const line = make("tr", "", body);
    const name = state.made.map(choiceText).join("; ") || "the best tree";
    make("th", name, line, { scope: "row" });
    make("td", costText(state.share), line);
    make("td", String(state.moved), line);
    if (compared) make("td", state === best ? "" : heldOutText(state).replace("held-out loss ", "") || "-", line);
    const button = make("button", "Show", make("td", "", line), { type: "button", "aria-label": `Show ${name}` });
    button.addEventListener("click", () => {
      earlier.push(chosen);
      chosen = state;
      drawExplorer();
    });
  }
}

/* One person: each column is a slider over the intervals that a tree can tell apart. */

const choicesOf = (column) => column.values?.length ?? (column.thresholds?.length ?? 0) + 1;
const who = explorer ? explorer.columns.map((column) => Math.floor(choicesOf(column) / 2)) : [];

function valueText(column, place) {
  if (column.values) return column.values[place];
  const { thresholds, unit } = column;
  const withIts = (text) => (unit ? `${text} ${unit}` : text);
  if (place === 0) return withIts(`at most ${thresholds[0]}`);
  return withIts(place === thresholds.length ? `above ${thresholds.at(-1)}` : `above ${thresholds[place - 1]}, at most ${thresholds[place]}`);
}

function says(question, values) {
  const column = explorer.columns[question.column];
  const place = values[question.column];
  if (question.threshold !== undefined) return place > column.thresholds.indexOf(question.threshold);
  return question.values ? question.values.includes(column.values[place]) !== question.negated : false;
}

function survivalOf(node, values) {
  while (!isLeaf(node)) node = node[says(explorer.questions[node[0]], values) ? 2 : 1];
  return node[2];
}

function columnsOf(node) {
  return isLeaf(node) ? [] : [explorer.questions[node[0]].column, ...columnsOf(node[1]), ...columnsOf(node[2])];
}

function tellPerson() {
  const { tree } = chosen;
  const mine = survivalOf(tree, who);
  const { within, all, trees } = explorer.near;
  const said = trees.map((one) => survivalOf(explorer.trees[one], who));
  const [low, high] = [Math.min(...said), Math.max(...said)];
  const text = byId("person-says");
  text.replaceChildren();
  make("strong", percent(mine), text);
  text.append(` survival at ${withUnit(explorer.horizon)} in the tree above. `);
  const range = low === high ? `all say ${percent(low)}` : `${percent(low)} to ${percent(high)}`;
  const which = all ? `Of the ${counted(said.length, "tree")}` : `Of the ${said.length} best trees`;
  text.append(`${which} within ${100 * within} % of the best: ${range}.`);
  const svg = element("svg", { class: "range", viewBox: "0 0 400 34", "aria-hidden": "true" });
  byId("person-range").replaceChildren(svg);
  const toX = (share) => 20 + 360 * share;
  element("line", { x1: 20, x2: 380, y1: 10, y2: 10 }, svg);
  element("rect", { x: toX(low) - 2, width: toX(high) - toX(low) + 4, y: 4, height: 12, rx: 6 }, svg);
  said.forEach((share) => element("line", { class: "tick", x1: toX(share), x2: toX(share), y1: 4, y2: 16 }, svg));
  element("line", { class: "me", x1: toX(mine), x2: toX(mine), y1: 0, y2: 20 }, svg);
  [0, 0.5, 1].forEach((share) => label(percent(share), { x: toX(share), y: 32, "text-anchor": "middle" }, svg));
  explorer.columns.forEach((column, place) => tellColumn(column, place, tree));
}

/** What the tree says along one column, the others as they are. */
function tellColumn(column, place, tree) {
  const row = byId(`person-row-${place}`);
  if (!row) return;
  const used = columnsOf(tree).includes(place);
  row.classList.toggle("unneeded", !used);
  row.querySelector("output").textContent = valueText(column, who[place]);
  row.querySelector("input").setAttribute("aria-valuetext", valueText(column, who[place]));
  const values = Array.from({ length: choicesOf(column) }, (_, value) => survivalOf(tree, who.map((old, other) => (other === place ? value : old))));
  const svg = row.querySelector("svg");
  svg.replaceChildren();
  const wide = 200 / values.length;
  let path = "";
  values.forEach((share, value) => {
    const y = (24 - 22 * share).toFixed(1);
    path += `${value ? `V${y}` : `M0 ${y}`}H${((value + 1) * wide).toFixed(1)}`;
  });
  const x = (who[place] + 0.5) * wide;
  if (used) element("path", { d: path }, svg);
  if (used) element("line", { x1: x, x2: x, y1: 0, y2: 26 }, svg);
  const steps = values.slice(1).map((share, value) => share - values[value]);
  const turns = used && column.thresholds && steps.some((step) => step > 0) && steps.some((step) => step < 0);
  row.querySelector(".turns").textContent = turns ? "more of it raises survival here and lowers it there" : "";
}

function makePerson() {
  const host = byId("explore-person");
  make("h3", "One person", host);
  make("p", "", host, { id: "person-says", role: "status" });
  make("div", "", host, { id: "person-range" });
  const rows = make("div", "", host, { class: "person" });
  explorer.columns.forEach((column, place) => {
    if (choicesOf(column) < 2) return;
    const row = make("div", "", rows, { id: `person-row-${place}` });
    const name = make("label", column.name, row, { for: `person-${place}` });
    make("output", "", name);
    const slider = make("input", "", row, { id: `person-${place}`, type: "range", min: 0, max: choicesOf(column) - 1, step: 1 });
    slider.value = who[place];
    slider.addEventListener("input", () => {
      who[place] = Number(slider.value);
      tellPerson();
    });
    element("svg", { class: "along", viewBox: "0 0 200 26", preserveAspectRatio: "none", "aria-hidden": "true" }, row);
    make("small", "", row, { class: "turns" });
  });
}

function drawExplorer(focus) {
  const host = byId("explore-tree");
  host.replaceChildren();
  drawNode(chosen.tree, "", "", make("ul", "", host));
  drawNow();
  drawButtons();
  drawKept();
  tellPerson();
  if (focus !== undefined) host.querySelector(`[data-path="${focus}"]`)?.focus({ preventScroll: true });
}

if (explorer) {
  makePerson();
  drawExplorer();
  // The page is there before the search, which may take a second.
  if (explorer.solver) {
    setTimeout(() => {
      startSolver();
      drawExplorer();
    });
  }
}
