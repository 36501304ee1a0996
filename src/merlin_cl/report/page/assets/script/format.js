// Numbers as the tables have them.

const NOTHING = '–';

const percent = (value) => (value === null || value === undefined ? NOTHING : value.toFixed(2).replace('-', '−'));

function size(count) {
  for (const [unit, factor] of [['GB', 1e9], ['MB', 1e6], ['kB', 1e3]]) {
    if (count >= factor) return `${(count / factor).toFixed(count / factor < 10 ? 1 : 0)} ${unit}`;
  }
  return `${Math.round(count)} B`;
}

// What a method keeps between tasks, if it says so.
const storedSize = (count) => (count === null ? 'not stated' : size(count));

function seconds(value) {
  if (value >= 3600) return `${(value / 3600).toFixed(1)} h`;
  if (value >= 60) return `${(value / 60).toFixed(1)} min`;
  return `${value.toFixed(value < 10 ? 1 : 0)} s`;
}

function duration(value) {
  const whole = Math.round(value);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (number) => String(number).padStart(2, '0');
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

function estimated(value) {
  if (!value) return NOTHING;
  return value.low === null ? percent(value.mean) : `${percent(value.mean)} [${percent(value.low)}, ${percent(value.high)}]`;
}

const short = (value) => (value === 0 ? '0' : Math.abs(value) >= 0.01 && Math.abs(value) < 1e5 ? String(Number(value.toPrecision(3))) : value.toExponential(1)).replace('-', '−');

const fullName = (series) => (series.inference ? `${series.label} · ${series.inference}` : series.label);
