const SECRET_NAME = /password|secret|token|authorization|api[-_]?key|cookie|master[-_]?key/i;
const CREDENTIAL = /(tn[a-z]_)[0-9A-Za-z]{20,}/g;
const SIGNING_SECRET = /(whsec_)[0-9A-Za-z+/]{20,}=*/g;
const BEARER = /\b(Bearer)\s+\S+/gi;
const URL_PASSWORD = /(\b[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:)[^/\s]+@/gi;
const DEPTH = 6;

/** A copy fit for the log: no secret by its name or by its form, errors as plain fields, bounded depth. */
export function redacted(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactedText(value);
  if (typeof value === 'function') return '[function]'; // not even as `toJSON`, which would be called
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value);
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Date) return value.toJSON();
  if (depth >= DEPTH) return '[deep]';
  if (value instanceof Error) return redacted(errorFields(value), depth + 1);
  if (Array.isArray(value)) return value.map((item) => redacted(item, depth + 1));
  const fields = Object.entries(value).map(([name, field]) => [
    redactedText(name),
    redactedField(name, field, depth + 1),
  ]);
  return Object.fromEntries(fields);
}

/** As `redacted`, of what has a name. */
export const redactedField = (name: string, field: unknown, depth = 1): unknown =>
  SECRET_NAME.test(name) && canHoldSecret(field) ? '[redacted]' : redacted(field, depth);

/** Counts, flags and times under such a name are about secrets, not secrets. */
const canHoldSecret = (field: unknown) =>
  typeof field === 'string' || (typeof field === 'object' && field !== null && !(field instanceof Date));

/** Whether there may be something to replace: most texts have nothing, and every line of the log has many texts. */
const SUSPICIOUS = /tn[a-z]_|whsec_|bearer|:\/\//i;

export const redactedText = (text: string) =>
  !SUSPICIOUS.test(text)
    ? text
    : text
        .replace(CREDENTIAL, '$1[redacted]')
        .replace(SIGNING_SECRET, '$1[redacted]')
        .replace(BEARER, '$1 [redacted]')
        .replace(URL_PASSWORD, '$1[redacted]@');

function errorFields(error: Error) {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return { name: error.name, message: error.message, code, stack: error.stack, cause };
}
