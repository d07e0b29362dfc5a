/** Knows the formats of strings. */
/** A pattern for each format. It matches only valid strings, but not always all of them. */
const FORMATS: Readonly<Record<string, string>> = {
  date: '(19|20)\\d\\d-(0[1-9]|1[0-2])-(0[1-9]|1\\d|2[0-8])',
  time: '([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,3})?Z',
  duration: 'P(\\d{1,4}D|T\\d{1,4}(H|M|S))',
  email: '[a-z0-9]{1,20}([._-][a-z0-9]{1,20}){0,2}@[a-z0-9]{1,20}(-[a-z0-9]{1,20}){0,2}(\\.[a-z]{2,10}){1,2}',
  hostname: '[a-z0-9]{1,20}(-[a-z0-9]{1,20}){0,2}(\\.[a-z]{2,10}){1,2}',
  uri: 'https?://[a-z0-9]{1,20}(-[a-z0-9]{1,20}){0,2}(\\.[a-z]{2,10}){1,2}(/[A-Za-z0-9_.~-]{0,40}){0,5}',
  ipv4: '((25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)\\.){3}(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)',
  ipv6: '([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}',
  uuid: '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}',
};

const DATE = '\\d{4}-((0[1-9]|1[0-2])-(0[1-9]|1\\d|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)';
const TIME = '([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d+)?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)';
const LABEL = '[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?';
const HEX = '[0-9A-Fa-f]';

/** A pattern for more strings of a format. They suit a `pattern` beside it that excludes the strings above. */
const WIDER: Readonly<Record<string, string>> = {
  date: DATE,
  time: TIME,
  'date-time': `${DATE}T${TIME}`,
  duration: 'P(\\d+W|\\d+Y(\\d+M(\\d+D)?)?|\\d+M(\\d+D)?|\\d+D|(\\d+D)?T(\\d+H(\\d+M(\\d+S)?)?|\\d+M(\\d+S)?|\\d+S))',
  email: `[A-Za-z0-9_+-]+(\\.[A-Za-z0-9_+-]+)*@(${LABEL}\\.)+${LABEL}`,
  hostname: `${LABEL}(\\.${LABEL})*`,
  uri: "[A-Za-z][A-Za-z0-9+.-]*:(//[A-Za-z0-9._~-]+(:\\d+)?)?(/[A-Za-z0-9._~!$&'()*+,;=:@-]*)*(\\?[A-Za-z0-9._~!$&'()*+,;=:@/?-]*)?",
  uuid: `${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}`,
  ipv6: `(${HEX}{1,4}:){7}${HEX}{1,4}|::(${HEX}{1,4}:){0,5}${HEX}{1,4}|::|(${HEX}{1,4}:){1,7}:`,
};

/** Returns patterns for strings of the format, the preferred one first. Without one, the format is an annotation. */
export function patternsOf(format: string): readonly string[] {
  const own = format === 'date-time' ? `${FORMATS.date}T${FORMATS.time}` : FORMATS[format];
  if (own === undefined || !(format === 'date-time' || Object.hasOwn(FORMATS, format))) return [];
  return [own, WIDER[format] ?? own];
}
