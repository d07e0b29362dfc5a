/** Bundles the console (src/interfaces/web/console) into dist/console, which the service sends at `/`. */
const { copyFileSync, mkdirSync } = require('node:fs');
const path = require('node:path');
const { buildSync } = require('esbuild');

const root = path.join(__dirname, '..');
const source = path.join(root, 'src/interfaces/web/console');
const built = path.join(root, 'dist/console');

mkdirSync(built, { recursive: true });
buildSync({
  // The other pages use only the design tokens.
  entryPoints: { console: path.join(source, 'main.tsx'), tokens: path.join(source, 'styles/tokens.css') },
  outdir: built,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  external: ['./icon.svg'],
  legalComments: 'eof',
  logLevel: 'warning',
});
copyFileSync(path.join(source, 'index.html'), path.join(built, 'index.html'));
