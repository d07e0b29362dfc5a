export const levels = ['error', 'warn', 'info', 'debug'] as const;
type Level = (typeof levels)[number];

export interface LogLine {
  /** Tells lines apart, also two of the same text, and stays while the log grows. */
  readonly key: string;
  readonly text: string;
  /** Seconds since the epoch. Null: the line is not one of the service. */
  readonly time: number | null;
  readonly level: Level | null;
  readonly event: string;
  /** All other fields. */
  readonly fields: readonly (readonly [name: string, value: string])[];
}

const parse = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

/** Reads lines of the log. A line that is not JSON becomes an event of its own text. */
export function readLines(lines: readonly string[]): readonly LogLine[] {
  const seen = new Map<string, number>();
  return lines.map((text) => {
    const count = seen.get(text) ?? 0;
    seen.set(text, count + 1);
    const { time, level, event, ...fields } = parse(text);
    const milliseconds = typeof time === 'string' ? Date.parse(time) : Number.NaN;
    return {
      key: `${text} ${count}`,
      text,
      time: Number.isNaN(milliseconds) ? null : milliseconds / 1000,
      level: levels.find((known) => known === level) ?? null,
      event: typeof event === 'string' ? event : text,
      fields: Object.entries(fields).map(([name, value]) => [name, textOf(value)] as const),
    };
  });
}

/** Returns the fields that a closed row shows, as short words. */
export function summaryOf({ fields }: LogLine): string {
  const shown = new Map(fields);
  const told = ['method', 'path', 'status', 'kind', 'reason', 'error'].map((name) => shown.get(name));
  const ms = shown.get('ms');
  return [...told, ms && `${ms} ms`].filter(Boolean).join(' · ');
}

/** Tells whether a line is of a call that read the log, as this page makes them all the time. */
export const readsLog = ({ event, fields }: LogLine): boolean =>
  event === 'request' && fields.some(([name, value]) => name === 'path' && value === '/v1/logs');
