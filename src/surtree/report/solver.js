/* The search in the page, where its rows are: best trees of up to three levels that keep some questions. */

/** Doubles, and bits of rows, from base64. */
const bytesOf = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
const doublesOf = (text) => new Float64Array(bytesOf(text).buffer);
const bitOf = (bytes, place) => (bytes[place >> 3] >> (7 - (place & 7))) & 1;

class Solver {
  constructor({ n, splits, depth, prior, bits, events, hazard, counts, rounding }) {
    Object.assign(this, { n, splits, depth, prior, rounding });
    // Of each row: events, hazard, and the counts that leaves have least values of.
    this.values = [doublesOf(events), doublesOf(hazard), ...counts.map(([, text]) => doublesOf(text))];
    this.least = counts.map(([least]) => least);
    this.holds = bits.map((text) => {
      const bytes = bytesOf(text);
      return Uint8Array.from({ length: n }, (_, row) => bitOf(bytes, row));
    });
    this.yes = Array.from({ length: n }, (_, row) => this.holds.flatMap((cut, number) => (cut[row] ? [number] : [])));
    this.all = Array.from({ length: n }, (_, row) => row);
    this.root = this.look(this.all, depth);
    this.leaf = this.leafGain(this.sums(this.all));
    this.best = this.profile(this.all, "", {})[splits];
  }

  sums(rows) {
    return [rows.length, ...this.values.map((values) => rows.reduce((total, row) => total + values[row], 0))];
  }

  /** The gain of a leaf of rows, events, hazard and counts; minus infinity where limits forbid it. */
  leafGain(sums) {
    if (sums[0] < 0.5) return -Infinity;
    for (let k = 0; k < this.least.length; k += 1) if (sums[k + 3] < this.least[k] - 1e-9) return -Infinity;
    const e = sums[1] + this.prior;
    return e > 1e-12 ? e * Math.log(e / (sums[2] + this.prior)) : 0;
  }

  most(depth) {
    return Math.min(2 ** depth - 1, this.splits);
  }

  part(rows, cut, answer) {
    return rows.filter((row) => this.holds[cut][row] === answer);
  }

  /** Sums of the rows that two cuts hold for, by pairs. */
  pairs(rows) {
    const m = this.holds.length;
    const tables = [0, ...this.values].map(() => new Float64Array(m * m));
    for (const row of rows) {
      const yes = this.yes[row];
      for (let p = 0; p < yes.length; p += 1) {
        for (let q = p; q < yes.length; q += 1) {
          const cell = yes[p] * m + yes[q];
          tables[0][cell] += 1;
          for (let k = 0; k < this.values.length; k += 1) tables[k + 1][cell] += this.values[k][row];
        }
      }
    }
    return tables;
  }

  /** What trees gain that ask each cut first, with at most 1, 2, ... splits. */
  look(rows, depth) {
    const m = this.holds.length;
    if (depth === 3) {
      return this.holds.map((_, cut) => {
        const sides = [0, 1].map((answer) => this.part(rows, cut, answer));
        if (!sides[0].length || !sides[1].length) return null;
        const [no, yes] = sides.map((side) => this.profile(side, null, {}, 2));
        return this.join(no, yes, this.most(3));
      });
    }
    const total = this.sums(rows);
    const tables = this.pairs(rows);
    const minus = (a, b) => a.map((value, place) => value - b[place]);
    const [yes, no] = [new Float64Array(total.length), new Float64Array(total.length)];
    const diagonal = this.holds.map((_, cut) => tables.map((table) => table[cut * m + cut]));
    return this.holds.map((_, first) => {
      const sides = [minus(total, diagonal[first]), diagonal[first]];
      const profiles = sides.map((side, answer) => {
        const leaf = this.leafGain(side);
        if (depth === 1 || side[0] < 2 || this.most(depth) < 2) return [leaf];
        let best = leaf;
        for (let second = 0; second < m; second += 1) {
          const cell = Math.min(first, second) * m + Math.max(first, second);
          for (let k = 0; k < yes.length; k += 1) {
            yes[k] = answer ? tables[k][cell] : diagonal[second][k] - tables[k][cell];
            no[k] = side[k] - yes[k];
          }
          const gain = this.leafGain(yes) + this.leafGain(no);
          if (gain > best) best = gain;
        }
        return [leaf, best];
      });
      if (sides[0][0] < 1 || sides[1][0] < 1) return null;
      return this.join(...profiles, this.most(depth));
    });
  }

  /** The best sum of two profiles with one split above them, with at most 0, 1, ... splits. */
  join(no, yes, most) {
    const gains = new Array(most + 1).fill(-Infinity);
    no.forEach((gain, i) => yes.forEach((other, j) => {
      if (i + j < most) gains[i + j + 1] = Math.max(gains[i + j + 1], gain + other);
    }));
    for (let k = 1; k <= most; k += 1) gains[k] = Math.max(gains[k], gains[k - 1]);
    return gains;
  }

  /** What the best tree gains that keeps some cuts, with at most 0, 1, ... splits. */
  profile(rows, path, keep, depth = this.depth - path.length) {
    const most = this.most(depth);
    if (path !== null && keep[path] !== undefined) {
      const [no, yes] = [0, 1].map((answer) => this.profile(this.part(rows, keep[path], answer), path + "ny"[answer], keep));
      return this.join(no, yes, most);
    }
    const gains = new Array(most + 1).fill(this.leafGain(this.sums(rows)));
    if (depth === 0) return gains;
    for (const cut of this.lookAt(rows, depth)) cut?.forEach((gain, k) => { gains[k] = Math.max(gains[k], gain); });
    for (let k = 1; k <= most; k += 1) gains[k] = Math.max(gains[k], gains[k - 1]);
    return gains;
  }

  lookAt(rows, depth) {
    return rows.length === this.n && this.root && depth === this.depth ? this.root : this.look(rows, depth);
  }

  /** The smallest of the best trees that keep some cuts: a cut and two sides, or the rows of a leaf. */
  tree(keep, rows = this.all, path = "", most = this.splits) {
    const gains = this.profile(rows, path, keep).slice(0, most + 1);
    const top = gains.at(-1) - this.rounding;
    const splits = gains.findIndex((gain) => gain >= top);
    if (splits === 0) return { rows };
    let cut = keep[path];
    if (cut === undefined) cut = this.lookAt(rows, this.depth - path.length).findIndex((one) => one && one[splits] >= top);
    const sides = [0, 1].map((answer) => this.part(rows, cut, answer));
    const profiles = sides.map((side, answer) => this.profile(side, path + "ny"[answer], keep));
    for (let i = 0; i < splits; i += 1) {
      const j = Math.min(splits - 1 - i, profiles[1].length - 1);
      if (i < profiles[0].length && profiles[0][i] + profiles[1][j] >= top) {
        return { cut, sides: sides.map((side, answer) => this.tree(keep, side, path + "ny"[answer], [i, j][answer])) };
      }
    }
    throw new Error("no tree has the gain that was found");
  }

  /** What the best tree gains that keeps some cuts, and asks each cut at a node, by cut. */
  prices(tree, path, keep) {
    let [rows, node, beside] = [this.all, tree, [0]];
    for (let place = 0; place < path.length; place += 1) {
      const answer = "ny".indexOf(path[place]);
      const other = this.profile(this.part(rows, node.cut, 1 - answer), path.slice(0, place) + "ny"[1 - answer], keep);
      const around = new Array(this.splits + 1).fill(-Infinity);
      beside.forEach((gain, i) => other.forEach((more, j) => {
        if (i + j + 1 <= this.splits) around[i + j + 1] = Math.max(around[i + j + 1], gain + more);
      }));
      rows = this.part(rows, node.cut, answer);
      node = node.sides[answer];
      beside = around;
    }
    return this.lookAt(rows, this.depth - path.length).map((gains) => {
      let best = -Infinity;
      gains?.forEach((gain, below) => beside.forEach((more, spent) => {
        if (below > 0 && below + spent <= this.splits) best = Math.max(best, gain + more);
      }));
      return best;
    });
  }

  /** What a leaf predicts. */
  risk(rows) {
    const [, events, hazard] = this.sums(rows);
    const [e, h] = [events + this.prior, hazard + this.prior];
    return e > 1e-12 ? e / h : Math.min(0.5 / h, 1);
  }
}
