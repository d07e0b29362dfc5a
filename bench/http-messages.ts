const END_OF_HEAD = '\r\n\r\n';

/** Returns the length of the first HTTP message in a latin1 text, or 0 if the message is not complete. */
export function wholeMessage(text: string): number {
  const head = text.indexOf(END_OF_HEAD);
  if (head < 0) return 0;
  const begins = head + END_OF_HEAD.length;
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, begins))?.[1];
  if (length !== undefined) return text.length < begins + Number(length) ? 0 : begins + Number(length);
  if (!/\r\ntransfer-encoding: *chunked/i.test(text.slice(0, begins))) return begins;
  const ends = text.indexOf(`\r\n0${END_OF_HEAD}`, begins - 2);
  return ends < 0 ? 0 : ends + 3 + END_OF_HEAD.length;
}
