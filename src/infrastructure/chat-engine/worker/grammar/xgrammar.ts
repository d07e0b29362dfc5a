/** Loads XGrammar, which says which tokens a grammar allows next. */
import { readFileSync } from 'node:fs';
import type * as XGrammar from '@mlc-ai/web-xgrammar';

/** Its file is a script of the older kind, but its package.json says otherwise, so Node can neither import nor require it. */
export function loadXGrammar(): typeof XGrammar {
  const script = { exports: {} };
  const file = require.resolve('@mlc-ai/web-xgrammar');
  const names = ['exports', 'module', 'require', '__filename'];
  new Function(...names, readFileSync(file, 'utf8'))(script.exports, script, require, file);
  return script.exports as typeof XGrammar;
}
