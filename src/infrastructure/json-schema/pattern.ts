/** Returns the regular expression of a `pattern`: with the flag `u` if it is valid so, else without. Throws SyntaxError. */
export function regExpOf(source: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch {
    return new RegExp(source);
  }
}

/** The option `code` for ajv, so that it reads patterns like `regExpOf`. */
export const ajvCode = { regExp: Object.assign((source: string) => regExpOf(source), { code: 'regExpOf' }) };
