import { Field } from './form.js';
import { query, setQuery } from './router.js';

/** Returns the seconds since the epoch in a parameter of the address, or null. */
export function secondsIn(name: string): number | null {
  const text = query.value.get(name) ?? '';
  return /^\d{1,10}$/.test(text) ? Number(text) : null;
}

/** A time of this time zone. The address keeps it in seconds since the epoch. */
export function TimeField({ label, name }: { label: string; name: string }) {
  const seconds = secondsIn(name);
  const offset = seconds === null ? 0 : new Date(seconds * 1000).getTimezoneOffset() * 60;
  return (
    <Field
      label={label}
      type="datetime-local"
      step={1}
      min="1970-01-02T00:00"
      max="2200-01-01T00:00"
      value={seconds === null ? '' : new Date((seconds - offset) * 1000).toISOString().slice(0, 19)}
      onChange={({ currentTarget: { value } }) => {
        const time = Date.parse(value) / 1000;
        setQuery({ [name]: time > 0 ? Math.floor(time) : null });
      }}
    />
  );
}
