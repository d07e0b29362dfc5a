import type { Finding } from '../../../domain/shared/errors.js';
import type { ErrorForm } from '../error-form.js';
import { type RefusalCode, refusals } from '../refusals.js';

/** Describes the part of JSON Schema that the contracts use. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly example?: unknown;
}
export type Schemas = Readonly<Record<string, Schema>>;

export interface Example {
  readonly value: unknown;
  /** Lists the paths of the parts without an example. The value lacks them. */
  readonly missing: readonly string[];
}

const found = (value: unknown): Example => ({ value, missing: [] });

/**
 * Returns the example of a schema, or builds one from the examples of its parts. Constants, enums, booleans and
 * nullable parts need no example. Leaves out an optional part that has no example.
 */
export function exampleOf(schema: Schema, schemas: Schemas, at = ''): Example {
  if (schema.example !== undefined) return found(schema.example);
  if (schema.$ref) return exampleOf(referred(schema, schemas), schemas, at);
  if (schema.const !== undefined) return found(schema.const);
  if (schema.enum) return found(schema.enum[0]);
  if (schema.allOf) return merged(schema.allOf.map((part) => exampleOf(part, schemas, at)));
  if (schema.properties) return ofProperties(schema, schemas, at);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return best(choices.map((choice) => exampleOf(choice, schemas, at)));
  if (schema.items) return listed(exampleOf(schema.items, schemas, `${at}[]`));
  if (schema.type === 'boolean') return found(true);
  if (schema.type === 'null' || schema.type?.includes('null')) return found(null);
  return { value: undefined, missing: [at] };
}

function ofProperties({ properties = {}, required = [] }: Schema, schemas: Schemas, at: string): Example {
  const shown = Object.entries(properties).filter(
    ([name, part]) => required.includes(name) || referred(part, schemas).example !== undefined,
  );
  const parts = shown.map(([name, part]) => [name, exampleOf(part, schemas, at ? `${at}.${name}` : name)] as const);
  return {
    value: Object.fromEntries(parts.map(([name, { value }]) => [name, value])),
    missing: parts.flatMap(([, { missing }]) => missing),
  };
}

const referred = (schema: Schema, schemas: Schemas): Schema =>
  schema.$ref ? (schemas[schema.$ref.replace('#/components/schemas/', '')] ?? {}) : schema;

const merged = (parts: readonly Example[]): Example => ({
  value: Object.assign({}, ...parts.map(({ value }) => value)),
  missing: parts.flatMap(({ missing }) => missing),
});

const best = (choices: readonly Example[]): Example =>
  choices.find(({ missing }) => missing.length === 0) ?? choices[0] ?? found(null);

const listed = ({ value, missing }: Example): Example => ({ value: missing.length > 0 ? [] : [value], missing });

interface Content {
  readonly content?: Record<string, { schema: object; example?: unknown; examples?: unknown }>;
}
type Operations = Readonly<Record<string, { requestBody?: Content; responses: Readonly<Record<string, Content>> }>>;
export interface Document {
  readonly paths: Readonly<Record<string, Operations>>;
  readonly webhooks: Readonly<Record<string, Operations>>;
  readonly components: { readonly schemas: Schemas };
}

/** Adds an example to each body for which `exampleOf` returns a complete one. */
export function addExamples({ paths, webhooks, components }: Document): void {
  const operations = Object.values({ ...paths, ...webhooks }).flatMap((path) => Object.values(path));
  const described = operations.flatMap(({ requestBody, responses }) => [
    requestBody ?? {},
    ...Object.values(responses),
  ]);
  for (const media of described.flatMap(({ content = {} }) => Object.values(content))) {
    if (media.examples || media.example !== undefined) continue;
    const { value, missing } = exampleOf(media.schema, components.schemas);
    if (missing.length === 0) media.example = value;
  }
}

/** Lists example messages by code. A code without one uses the text in `when`. */
const messages = {
  malformed_json: 'The body is not JSON: unexpected text at position 12.',
  session_required: 'This endpoint does not take an API key: sign in and send the session token.',
  email_unverified: 'Verify your e-mail first: open the link in the mail, or ask for a new one.',
  forbidden: 'This needs the role admin or developer.',
  registration_closed: 'This service has reached its limit of 3 accounts.',
  token_not_found: 'There is no such token: copy it whole from the e-mail.',
  request_timeout: 'The body stalled for 15 s.',
  last_admin: 'This is the last admin of the team: make another account admin first.',
  stale_version: 'The current version is 4: read it and try again.',
  dataset_frozen: 'The dataset is frozen and can no longer change: fork it.',
  model_registered: 'The model is registered and can no longer change: fork it into a draft.',
  job_finished: "The job has finished (succeeded): it can't be changed any more.",
  request_id_conflict: 'This request_id already made another model: use a new request_id.',
  misdirected_request: 'This service does not answer for the host tenon.example.net.',
  payload_too_large: 'The body is over the limit of 102400 bytes.',
  unsupported_media_type: 'Send the body as application/json in UTF-8, not compressed.',
  invalid_request: 'name: is required (and 1 more)',
  model_file_invalid: 'The model file cannot be served: iris.onnx is not in the models folders.',
  dataset_invalid: 'The dataset cannot be frozen as it is: 1 finding(s), listed in details.',
  context_length_exceeded: "The model's context is 512 tokens; the prompt has 600. Shorten the prompt.",
  streaming_unsupported: 'Streaming is not supported: leave stream out or send false.',
  model_mismatch: 'model must be the id of the project in the path, prj_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11.',
  rate_limited: 'The limit is 120 requests per minute: try again in 12 seconds.',
  budget_exceeded:
    'The budget bud_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11 (cost of the team, for each month) has no room for this call.',
  model_busy: 'The model is busy: try again in 2 s.',
  runtime_not_connected:
    'No model is connected to this project: connect one with PUT /v1/projects/{project_id}/runtime.',
  runtime_stopped: 'The runtime is stopped: start it with POST /v1/projects/{project_id}/runtime/start.',
  runtime_unavailable: 'The runtime is unavailable: its process ended with code 1.',
  inference_timeout: 'The model did not finish within 60 s.',
  thread_unsupported_request: 'thread: is not supported: send all messages with each request',
  unauthenticated: 'A valid credential is needed: send "Authorization: Bearer <session token or API key>".',
  not_found: 'There is no such project.',
  method_not_allowed: 'This path takes GET, HEAD, POST.',
  email_taken: 'An account with this e-mail exists: log in instead.',
} satisfies { readonly [Code in RefusalCode]?: string };

const details: { readonly [Code in RefusalCode]?: readonly Finding[] } = {
  stale_version: [{ path: 'version', message: messages.stale_version, current: 4 }],
  invalid_request: [
    { path: 'name', message: 'is required' },
    { path: 'version', message: 'must be a whole number from 1 to 2147483647' },
  ],
  dataset_invalid: [{ path: 'records.2.expected', message: 'has no expected value', code: 'empty_expected' }],
};

/** Returns an example of the envelope with this code. */
export const refusalExample = (code: RefusalCode) => ({
  status: 'error',
  code,
  error: code in messages ? messages[code as keyof typeof messages] : refusals[code].when,
  request_id: 'req_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11',
  ...(details[code] && { details: details[code] }),
});

/** Returns an example of the refusal with this code in another form than the service's own. */
export function refusalExampleIn(form: ErrorForm, code: RefusalCode, status: number) {
  const finding = form.findings[code];
  const { error, request_id } = refusalExample(code);
  const refused = finding ? { error: `${finding.path}: ${finding.message}`, details: [finding] } : { error };
  return form.body(status, { code, request_id, ...refused });
}
