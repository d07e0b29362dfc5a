import { useMemo, useState } from 'preact/hooks';
import { type DiffLine, diffLines, foldUnchanged } from '../diff.js';
import { plural } from '../format.js';

const MOST_SHOWN = 2_000;
const SIGNS = { same: ' ', removed: '−', added: '+' } as const;

/** Shows the differences between two texts line by line. Folds unchanged lines. */
export function DiffView({ label, before, after }: { label: string; before: string; after: string }) {
  const parts = useMemo(() => foldUnchanged(diffLines(before, after).slice(0, MOST_SHOWN)), [before, after]);
  const [opened, setOpened] = useState<readonly unknown[]>([]);
  if (before === after) return <p class="hint">There is no difference.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrolling element.
    <section class="diff" aria-label={label} tabIndex={0}>
      {parts.map((part) =>
        part.folded && !opened.includes(part) ? (
          <button
            key={part.lines[0]?.after}
            type="button"
            class="diff-fold"
            onClick={() => setOpened([...opened, part])}
          >
            Show {plural(part.lines.length, 'unchanged line')}
          </button>
        ) : (
          part.lines.map((line) => <Line key={`${line.before} ${line.after}`} line={line} />)
        ),
      )}
    </section>
  );
}

const Line = ({ line: { kind, text, before, after } }: { line: DiffLine }) => (
  <div class={`diff-line ${kind}`}>
    <span class="diff-number">{before}</span>
    <span class="diff-number">{after}</span>
    <code>{SIGNS[kind]}</code>
    <code>{text}</code>
  </div>
);
