import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import express, { type Response, Router } from 'express';
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

/** Serves the pages for people: the console, the API reference, the sign-in page, and the targets of e-mail links. */
export function pages(): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const file = (path: string, send: (response: Response) => unknown) =>
    router.all(path, (request, response) => {
      if (!['GET', 'HEAD'].includes(request.method)) throw methodNotAllowed(['GET', 'HEAD']);
      return send(response);
    });
  file('/openapi.json', async (response) => {
    sendOnce(response.type('json'), await described());
  });
  const files = dirname(require.resolve('swagger-ui-dist/package.json'));
  const wanted = /^\/(swagger-ui\.css|swagger-ui-bundle\.js|favicon-32x32\.png)$/;
  const assets = express.static(files, { index: false, redirect: false, maxAge: '1d' });
  router.use('/docs', (request, response, next) =>
    wanted.test(request.path) ? assets(request, response, next) : next(),
  );
  for (const { path, type, content } of filesOf(join(packageRoot, 'public'))) {
    const policy = path === '/docs' ? REFERENCE_POLICY : OWN_POLICY;
    file(path, (response) => guarded(response, policy).type(type).send(content));
  }
  for (const { path, type, content } of filesOf(join(packageRoot, 'dist', 'console'))) {
    const text = tagged(content);
    file(path, (response) => sendOnce(guarded(response, OWN_POLICY).type(type), text));
  }
  return router;
}

interface Tagged {
  readonly text: string;
  readonly tag: string;
}

const tagged = (text: string): Tagged => ({
  text,
  tag: `"${createHash('sha256').update(text).digest('base64url')}"`,
});

/** Sends a text, or answers 304 to a caller that already has it. `send` compares the tags. */
const sendOnce = (response: Response, { text, tag }: Tagged) =>
  response.set({ ETag: tag, 'Cache-Control': 'no-cache' }).send(text);

let description: Promise<Tagged> | undefined;

/** Returns the OpenAPI document. Creates it at the first request, so that the service starts faster. */
function described() {
  description ??= import('../http/openapi/document.js').then(({ openApiDocument }) => {
    return tagged(JSON.stringify(openApiDocument(version)));
  });
  return description;
}

/**
 * Sets the security headers of a page. Browsers must not store the page, because its URL may contain a token.
 * For the console, `sendOnce` replaces the Cache-Control. Other code sets the Referrer-Policy of every answer.
 */
const guarded = (response: Response, policy: string): Response =>
  response.set({ 'Content-Security-Policy': policy, 'Cache-Control': 'no-store', 'X-Frame-Options': 'DENY' });

interface PublicFile {
  /** `/` for `index.html`, `/auth` for `auth.html`. Files that pages load are below `/pages`. */
  readonly path: string;
  /** The extension of its name, such as `.css`. */
  readonly type: string;
  readonly content: string;
}

/** Reads all files of a folder at the start, so that they cannot change or disappear while the service runs. */
function filesOf(folder: string): PublicFile[] {
  return readdirSync(folder).map((name) => {
    const type = extname(name);
    const page = name === 'index.html' ? '/' : `/${name.slice(0, -type.length)}`;
    return {
      path: type === '.html' ? page : `/pages/${name}`,
      type,
      content: readFileSync(join(folder, name), 'utf8'),
    };
  });
}
