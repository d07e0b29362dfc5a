import createClient from 'openapi-fetch';
import type { components, paths } from '../../src/interfaces/web/console/shared/openapi-types.js';
import { type HttpCaller, note } from './http-caller.js';

export type Schemas = components['schemas'];

/** Creates the client that consumers generate from `openapi.json`. It calls with the credential. */
export const apiClient = ({ url: baseUrl }: HttpCaller, credential?: string) =>
  createClient<paths>({
    baseUrl,
    headers: credential === undefined ? {} : { Authorization: `Bearer ${credential}` },
    fetch: noted,
  });
export type ApiClient = ReturnType<typeof apiClient>;

async function noted(request: Request): Promise<Response> {
  const response = await fetch(request);
  note(request.method, new URL(request.url).pathname, { status: response.status, body: await response.clone().json() });
  return response;
}

/** Returns the answer of a call. Throws if the call was refused or has no answer. */
export async function done<T, E>(call: Promise<{ data?: T; error?: E; response: Response }>): Promise<T> {
  const { data, error, response } = await call;
  if (data === undefined) throw new Error(`${response.url}: ${response.status} ${JSON.stringify(error)}`);
  return data;
}

/** Returns the refusal of a call. Throws when it succeeded. */
export async function refused<T, E>(call: Promise<{ data?: T; error?: E; response: Response }>): Promise<E> {
  const { data, error, response } = await call;
  if (error === undefined) throw new Error(`${response.url}: ${response.status} ${JSON.stringify(data)}`);
  return error;
}
