import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';

/** A file of the folder `public`, beside the nearest package.json above this one. */
export interface PublicFile {
  /** `/auth` for `auth.html`; all that pages load is below `/pages`. */
  readonly path: string;
  /** The ending of its name, such as `.css`. */
  readonly type: string;
  readonly content: string;
}

/** Read at once: what is served cannot change or go missing while the service runs. */
export function publicFiles(): PublicFile[] {
  const folder = join(packageRoot(__dirname), 'public');
  return readdirSync(folder).map((name) => {
    const type = extname(name);
    const path = type === '.html' ? `/${name.slice(0, -type.length)}` : `/pages/${name}`;
    return { path, type, content: readFileSync(join(folder, name), 'utf8') };
  });
}

function packageRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : packageRoot(resolve(folder, '..'));
}
