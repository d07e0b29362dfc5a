import type { LogFields } from '../../application/shared/ports/log.js';
import { redactedField, redactedText } from './redact.js';

interface Head {
  readonly time: string;
  readonly level: string;
  readonly event: string;
}

/** JSON leaves these as they are, but some readers take them for line ends and some terminals for commands. */
const CONTROLS = /[\u007f-\u009f\u2028\u2029]/g;

/** An event as JSON, fit for the log. Its own fields win over those around it, and none of them passes for the head. */
export function logLine(head: Head, around: LogFields, own: LogFields): string {
  const text = `${opened(head)}${members(around, own)}}`;
  return text.replace(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const opened = ({ time, level, event }: Head) =>
  `{"time":"${time}","level":"${level}","event":${JSON.stringify(redactedField('event', event))}`;

/** Put together piece by piece: a copy of the fields that is fit for the log costs more than all else of a line. */
function members(around: LogFields, own: LogFields): string {
  try {
    let text = '';
    for (const name of Object.keys(around)) if (!Object.hasOwn(own, name)) text += member(name, around[name]);
    for (const name of Object.keys(own)) text += member(name, own[name]);
    return text;
  } catch (error) {
    // A value that throws when it is looked at. What happened must not be lost with it.
    return `,"unreadable":${JSON.stringify(redactedText(String(error)))}`;
  }
}

function member(name: string, field: unknown): string {
  if (name === 'time' || name === 'level' || name === 'event') return '';
  const value = JSON.stringify(redactedField(name, field));
  return value === undefined ? '' : `,${JSON.stringify(redactedText(name))}:${value}`;
}
