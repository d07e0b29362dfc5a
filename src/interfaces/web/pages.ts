import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { type Request, type Response, Router } from 'express';
import { methodNotAllowed } from '../http/refusals.js';
import { packageRoot, version } from '../version.js';

/** Allows only our own files. Forbids inline scripts and styles, frames, and scripts that turn text into markup. */
const OWN_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'none'", // The scripts send the forms. Without scripts, a browser must not put a password into a URL.
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** The policy of the API reference. Swagger UI writes styles into its elements, and images into its styles. */
const REFERENCE_POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join('; ');

/** The addresses of the console. A link in an e-mail leads to one of the last three, so its URL may contain a token. */
const HOME = '/';
const LINKED = ['/auth', '/verify-email', '/reset-password'];

/** The names of files whose content never changes, because the name contains its hash. */
const HASHED = /-[A-Z0-9]{8}\.(js|css|svg)$/;

/** Values of `Cache-Control`: for files in HASHED, for files that change with an update, and for pages in LINKED. */
const UNCHANGED = 'public, max-age=31536000, immutable';
const REVALIDATED = 'no-cache';
const NOT_STORED = 'no-store';

/**
 * Serves the pages for people: the console and the API reference. Reads all files at the start, so that they cannot
 * change or disappear while the service runs.
 */
export function pages(): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const serve = (path: string, headers: Headers, file: Encoded | (() => Promise<Encoded>)) =>
    router.all(path, async (request, response) => {
      if (!['GET', 'HEAD'].includes(request.method)) throw methodNotAllowed(['GET', 'HEAD']);
      sendEncoded(response.set(headers), request, typeof file === 'function' ? await file() : file);
    });
  const folder = join(packageRoot, 'dist', 'console');
  const read = (name: string) => readFileSync(join(folder, name));
  serve('/openapi.json', { 'Content-Type': 'application/json', 'Cache-Control': REVALIDATED }, described);
  serve('/docs', headersOf('.html', REVALIDATED, REFERENCE_POLICY), encoded(read('docs.html')));
  const page = encoded(read('index.html'));
  serve(HOME, headersOf('.html', REVALIDATED), page);
  for (const path of LINKED) serve(path, headersOf('.html', NOT_STORED), page);
  for (const name of readdirSync(folder).filter((one) => HASHED.test(one))) {
    const file = encodings({ identity: read(name), gzip: read(`${name}.gz`), br: read(`${name}.br`) });
    serve(`/pages/${name}`, headersOf(extname(name), UNCHANGED), file);
  }
  return router;
}

type Headers = Readonly<Record<string, string>>;

const headersOf = (extension: string, caching: string, policy = OWN_POLICY): Headers => ({
  'Content-Type': TYPES[extension] as string,
  'Cache-Control': caching,
  'Content-Security-Policy': policy,
  'X-Frame-Options': 'DENY',
});

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** A file in each encoding that the service sends, with an entity tag. */
type Encoded = Readonly<Record<Encoding, { readonly content: Buffer; readonly tag: string }>>;
type Encoding = 'identity' | 'gzip' | 'br';

function encodings(contents: Readonly<Record<Encoding, Buffer>>): Encoded {
  const tagged = (content: Buffer) => ({
    content,
    tag: `"${createHash('sha256').update(content).digest('base64url')}"`,
  });
  return { identity: tagged(contents.identity), gzip: tagged(contents.gzip), br: tagged(contents.br) };
}

/** Compresses a file quickly. */
const encoded = (content: Buffer): Encoded =>
  encodings({
    identity: content,
    gzip: gzipSync(content),
    br: brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  });

/** Sends a file in the best encoding that the caller accepts. Answers 304 to a caller that already has it. */
function sendEncoded(response: Response, request: Request, file: Encoded): void {
  const encoding = (request.acceptsEncodings('br', 'gzip', 'identity') || 'identity') as Encoding;
  const { content, tag } = file[encoding];
  if (encoding !== 'identity') response.set('Content-Encoding', encoding);
  response.vary('Accept-Encoding').set('ETag', tag).send(content); // `send` compares the tags
}

let description: Promise<Encoded> | undefined;

/** Returns the OpenAPI document. Creates it at the first request, so that the service starts faster. */
function described(): Promise<Encoded> {
  description ??= import('../http/openapi/document.js').then(({ openApiDocument }) => {
    return encoded(Buffer.from(JSON.stringify(openApiDocument(version))));
  });
  return description;
}
