/** Writes docs/settings.md from the code. With `--check`, only compares it. */
import type { Setting } from '../src/bootstrap/config/setting.js';
import { settingFamilies, settings } from '../src/bootstrap/config/settings.js';
import { generate } from './generated-file.js';

const HEAD = `<!-- Written by \`npm run settings\` from src/bootstrap/config. -->

# Settings

Settings come from the environment and from a file \`.env\` in the working folder. The environment wins. The start
checks all settings. It prints a line for each bad setting and ends with exit code 1. The log names unknown settings
that begin with \`SERVICE_\`.

| Setting | Default | Purpose |
|---|---|---|
`;

function row([name, { fallback, shown, about }]: [string, Setting]): string {
  const cells = [`\`${name}\``, fallback === undefined ? (shown ?? 'none') : `\`${fallback}\``, about];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
}

const families = Object.entries<Setting>(settingFamilies).map(([prefix, family]) => row([`${prefix}*`, family]));
generate('docs/settings.md', [HEAD, ...Object.entries<Setting>(settings).map(row), ...families].join(''), 'settings');
