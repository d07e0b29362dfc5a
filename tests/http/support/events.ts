/** Parses the events of a response, and checks their names and numbers. */
export function eventsOf(text: string, first = 0) {
  const events = text
    .trimEnd()
    .split('\n\n')
    .filter((event) => event !== '' && !event.startsWith(':'));
  return events.map((event, number) => {
    const [, type, data = ''] = /^event: (\S+)\ndata: (.*)$/.exec(event) ?? [];
    const json = JSON.parse(data);
    expect(json).toMatchObject({ type, sequence_number: first + number });
    return json;
  });
}
