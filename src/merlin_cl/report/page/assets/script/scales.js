// From numbers to places, and round numbers to put on an axis.

function linear([low, high], [from, to]) {
  const span = high - low || 1;
  return (value) => from + ((value - low) / span) * (to - from);
}

function logarithmic([low, high], range) {
  const scale = linear([Math.log(low), Math.log(high)], range);
  return (value) => scale(Math.log(value));
}

// About `count` round numbers that span low to high.
function ticks(low, high, count) {
  const raw = (high - low) / Math.max(1, count) || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999);
  const marks = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + step * 1e-9; value += step) marks.push(Number(value.toPrecision(12)));
  return marks;
}

// Powers of ten inside, and their doubles and fives where there are few.
function logarithmicTicks(low, high) {
  const all = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    all.push(...[1, 2, 5].map((factor) => factor * 10 ** power));
  }
  const inside = all.filter((value) => value >= low && value <= high);
  const tens = inside.filter((value) => Number.isInteger(Math.round(Math.log10(value) * 1e6) / 1e6));
  return tens.length >= 3 ? tens : inside;
}

// The least and greatest of what is there, nulls left out.
function extent(values) {
  const known = values.filter((value) => value !== null && value !== undefined);
  return [Math.min(...known), Math.max(...known)];
}

// All that is drawn of an estimate: its mean, the ends of its interval, every seed.
const reachOf = (point) => [point.mean, point.low, point.high, ...(point.each ?? [])].filter((value) => value !== null);

// Places moved apart so that labels of a height do not cover each other; in the order given, inside low to high.
function spread(places, height, low, high) {
  const order = places.map((place, index) => index).sort((a, b) => places[a] - places[b]);
  const moved = [...places];
  order.forEach((index, rank) => {
    if (rank > 0) moved[index] = Math.max(moved[index], moved[order[rank - 1]] + height);
  });
  let limit = high;
  for (const index of [...order].reverse()) {
    moved[index] = Math.max(low, Math.min(moved[index], limit));
    limit = moved[index] - height;
  }
  return moved;
}
