/** Formats numbers, times and sizes for people. */

const number = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const moment = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });

export const formatNumber = (value: number): string => number.format(value);
/** Formats a figure. A small one is not 0. */
export const formatCompact = (value: number): string => {
  if (value > 0 && value < 0.005) return '< 0.01';
  return Math.abs(value) < 10_000 ? formatNumber(value) : compact.format(value);
};
export const formatShare = (value: number): string => `${number.format(Math.round(value * 1000) / 10)} %`;

/** Formats seconds, such as `84 ms`, `1.25 s` or `3 min 5 s`. */
export function formatDuration(seconds: number): string {
  if (seconds < 0.01) return `${number.format(seconds * 1000)} ms`;
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${number.format(seconds)} s`;
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${rest} s`;
}

export function formatBytes(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${number.format(Math.round(value * 10) / 10)} ${units[unit]}`;
}

/** Formats seconds since the epoch in full, in the browser's time zone. */
export const formatTime = (seconds: number): string => moment.format(seconds * 1000);

/** Formats the time of the day of seconds since the epoch, such as `14:03:05`. */
export const formatClock = (seconds: number): string => new Date(seconds * 1000).toLocaleTimeString('en-GB');

/** Formats seconds since the epoch relative to now, such as `3 min ago`. */
export function formatAgo(seconds: number, now = Date.now() / 1000): string {
  const ago = now - seconds;
  if (ago < 0) return `in ${spanOf(-ago)}`;
  return ago < 5 ? 'just now' : `${spanOf(ago)} ago`;
}

function spanOf(seconds: number): string {
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** Formats a count with its noun: `plural(1, 'record')` is `1 record`. */
export const plural = (count: number, noun: string, nouns = `${noun}s`): string =>
  `${formatNumber(count)} ${count === 1 ? noun : nouns}`;

/** Shows an exact amount such as `12.340000000` without the zeros at its end. */
export function formatCost(cost: string): string {
  const [whole = '', part = ''] = cost.replace('-', '').split('.');
  const shown = part.replace(/0+$/, '');
  return (cost.startsWith('-') ? '-' : '') + BigInt(whole).toLocaleString('en-GB') + (shown && `.${shown}`);
}

/** Adds up exact amounts, and shows the sum. Returns null if there is none. */
export function summedCost(costs: readonly (string | null)[]): string | null {
  const known = costs.filter((cost) => cost !== null);
  if (known.length === 0) return null;
  const digits = String(known.reduce((sum, cost) => sum + BigInt(cost.replace('.', '')), 0n)).padStart(10, '0');
  return formatCost(`${digits.slice(0, -9)}.${digits.slice(-9)}`);
}
