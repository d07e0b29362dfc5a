export const levels = ['error', 'warn', 'info', 'debug'] as const;
type Level = (typeof levels)[number];

export interface LogLine {
  /** Identifies the line, also among lines with the same text. Stays the same when lines are appended. */
  readonly key: string;
  readonly text: string;
  /** Seconds since the epoch, or null if the service did not write the line. */
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

/** Reads lines of the log. If a line is not JSON, its whole text becomes the event. */
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

/** Returns the most important fields as a short text for a closed row. */
export function summaryOf({ fields }: LogLine): string {
  const shown = new Map(fields);
  const important = ['method', 'path', 'status', 'kind', 'reason', 'error'].map((name) => shown.get(name));
  const ms = shown.get('ms');
  return [...important, ms && `${ms} ms`].filter(Boolean).join(' · ');
}

/** Returns whether a line is about a call that read the log. This page makes such calls all the time. */
export const readsLog = ({ event, fields }: LogLine): boolean =>
  event === 'request' && fields.some(([name, value]) => name === 'path' && value === '/v1/logs');
