const UNREACHABLE = 'The service could not be reached. Try again in a moment.';

/**
 * Calls the API and never throws. `body` is the answer, or the refusal with its `error`. Paths are relative to the
 * page, so a proxy may serve everything below a folder.
 */
export async function call(method, path, { token, json } = {}) {
  try {
    const response = await fetch(path, {
      method,
      headers: {
        ...(token && { Authorization: `Bearer ${token}` }),
        ...(json && { 'Content-Type': 'application/json' }),
      },
      ...(json && { body: JSON.stringify(json) }),
    });
    const body = await response.json().catch(() => null);
    if (body) return { ok: response.ok, status: response.status, body };
    return { ok: false, status: response.status, body: { error: `The service answered ${response.status}.` } };
  } catch {
    return { ok: false, status: 0, body: { error: UNREACHABLE } };
  }
}
