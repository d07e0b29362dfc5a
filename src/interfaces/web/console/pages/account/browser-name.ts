/** In the order of the search, because most browsers also name others for old web sites. */
const BROWSERS = [
  ['Edge', /\bEdg(e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(Firefox|FxiOS)\//],
  ['Chrome', /\b(Headless)?(Chrome|CriOS|Chromium)\//],
  ['Safari', /\bSafari\//],
] as const;

const SYSTEMS = [
  ['Android', /\bAndroid\b/],
  ['iOS', /\b(iPhone|iPad|iPod)\b/],
  ['Windows', /\bWindows\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['macOS', /\bMac OS X\b/],
  ['Linux', /\bLinux\b/],
] as const;

const LONGEST = 60;

/** Returns a short name such as "Firefox on Linux". Returns the product of a program that is no known browser. */
export function browserName(userAgent: string | null): string {
  const agent = userAgent?.trim() ?? '';
  const named = (names: typeof BROWSERS | typeof SYSTEMS) => names.find(([, pattern]) => pattern.test(agent))?.[0];
  const browser = named(BROWSERS);
  if (!browser) return agent.split(/[\s/]/)[0]?.slice(0, LONGEST) || 'Unknown';
  const system = named(SYSTEMS);
  return system ? `${browser} on ${system}` : browser;
}
