const SECRET_NAME = /password|secret|token|authorization|api[-_]?key|cookie|master[-_]?key/i;
const SECRET_FORMS = [
  [/(tn[a-z]_)[0-9A-Za-z]{20,}/g, '$1[redacted]'],
  [/(whsec_)[0-9A-Za-z+/]{20,}=*/g, '$1[redacted]'],
  [/\b(Bearer)\s+\S+/gi, '$1 [redacted]'],
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:)[^/\s]+@/gi, '$1[redacted]@'],
] as const;
/** One quick look: most texts hold no secret. */
const MAY_HOLD_SECRET = /tn[a-z]_|whsec_|bearer|:\/\//i;
const MOST_DEPTH = 6;

/**
 * Returns a copy fit for the log: secrets are replaced, whether known by their name or by their form, errors become plain
 * fields, and the depth is bounded, so that circles end. Never throws.
 */
export function redacted(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactedText(value);
  if (typeof value === 'function') return '[function]'; // JSON would call one that is named toJSON
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value);
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Date) return value.toJSON();
  if (depth > MOST_DEPTH) return '[deep]';
  try {
    if (Array.isArray(value)) return value.map((item) => redacted(item, depth + 1));
    const fields = value instanceof Error ? errorFields(value) : value;
    return Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [redactedText(name), redactedField(name, field, depth + 1)]),
    );
  } catch (error) {
    return { unreadable: redactedText(String(error)) }; // a getter threw
  }
}

/** Replaces the secrets in a text that are known by their form. */
export function redactedText(text: string): string {
  if (!MAY_HOLD_SECRET.test(text)) return text;
  return SECRET_FORMS.reduce((rest, [form, replacement]) => rest.replace(form, replacement), text);
}

const redactedField = (name: string, field: unknown, depth: number): unknown =>
  SECRET_NAME.test(name) && canHoldSecret(field) ? '[redacted]' : redacted(field, depth);

/** Numbers, flags and times under such a name (`prompt_tokens`) are about secrets, not secrets. */
const canHoldSecret = (field: unknown) =>
  typeof field === 'string' || (typeof field === 'object' && field !== null && !(field instanceof Date));

function errorFields(error: Error) {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return { name: error.name, message: error.message, code, stack: error.stack, cause };
}
