/** Loads XGrammar, a library that computes which tokens a grammar allows next. */
import { readFileSync } from 'node:fs';
import type * as XGrammar from '@mlc-ai/web-xgrammar';

/** Node can neither import nor require the library: it is CommonJS, but its package.json says `module`. */
export function loadXGrammar(): typeof XGrammar {
  const script = { exports: {} };
  const file = require.resolve('@mlc-ai/web-xgrammar');
  const names = ['exports', 'module', 'require', '__filename'];
  new Function(...names, readFileSync(file, 'utf8'))(script.exports, script, require, file);
  return script.exports as typeof XGrammar;
}
