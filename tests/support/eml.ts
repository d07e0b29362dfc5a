import addressparser from 'nodemailer/lib/addressparser';

export interface ReceivedMail {
  readonly messageId: string;
  readonly from: string;
  readonly to: readonly { readonly name: string; readonly address: string }[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Contains every header, by its name in lower case. */
  readonly headers: ReadonlyMap<string, string>;
}

/** Parses the parts of RFC 5322 and MIME that the service writes. */
export function parseMail(source: Buffer | string): ReceivedMail {
  const { headers, body } = partOf(source.toString('utf8').replaceAll('\r\n', '\n'));
  const type = headers.get('content-type') ?? '';
  const boundary = /boundary="?([^";]+)"?/.exec(type)?.[1];
  const parts = body
    .split(`\n--${boundary}`)
    .slice(1, -1)
    .map((part) => partOf(part.replace(/^\n/, '')));
  const content = (wanted: string) => {
    const part = parts.find((one) => one.headers.get('content-type')?.startsWith(wanted));
    return part ? decoded(part) : '';
  };
  const addresses = addressparser(headers.get('to') ?? '') as { name: string; address: string }[];
  return {
    messageId: headers.get('message-id') ?? '',
    from: words(headers.get('from') ?? ''),
    to: addresses.map(({ name, address }) => ({ name: words(name), address })),
    subject: words(headers.get('subject') ?? ''),
    text: content('text/plain'),
    html: content('text/html'),
    headers,
  };
}

interface Part {
  readonly headers: Map<string, string>;
  readonly body: string;
}

function partOf(text: string): Part {
  const end = text.indexOf('\n\n');
  const lines = text
    .slice(0, end)
    .replace(/\n[ \t]+/g, ' ')
    .split('\n');
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  // A body can begin with a boundary. The added line end makes it look like the other boundaries.
  return { headers: new Map(headers), body: `\n${text.slice(end + 2)}` };
}

function decoded({ headers, body }: Part): string {
  const content = body.slice(1);
  const encoding = headers.get('content-transfer-encoding')?.toLowerCase();
  if (encoding === 'base64') return Buffer.from(content, 'base64').toString('utf8').replaceAll('\r\n', '\n');
  if (encoding === 'quoted-printable') return unquoted(content.replace(/=\n/g, ''));
  return content;
}

const unquoted = (text: string) =>
  Buffer.from(
    text.replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8');

/** Decodes the encoded words of RFC 2047. Drops the white space between two of them. */
const words = (text: string) =>
  text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, encoding: string, word: string) =>
      encoding.toLowerCase() === 'b'
        ? Buffer.from(word, 'base64').toString('utf8')
        : unquoted(word.replaceAll('_', ' ')),
    );
