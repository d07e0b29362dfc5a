import { useState } from 'preact/hooks';
import { answer } from './api.js';
import { Dialog } from './dialog.js';
import { Icon } from './icon.js';
import { toastError } from './toasts.js';

const FORMATS = [
  ['jsonl', 'JSON Lines', 'One JSON object in each line. Nothing is lost.'],
  ['csv', 'CSV', 'A table for a spreadsheet. Text that it would run as a formula begins with an apostrophe.'],
] as const;
export type ExportFormat = (typeof FORMATS)[number][0];

type Exported = Promise<{ data?: Blob; error?: unknown; response: Response }>;

/** Saves a file in the format that the user chooses. `ask` reads the file as a blob. */
export function ExportButton({ what, ask }: { what: string; ask: (format: ExportFormat) => Exported }) {
  const [choosing, setChoosing] = useState(false);
  const [loading, setLoading] = useState(false);
  const save = async (format: ExportFormat) => {
    setLoading(true);
    try {
      await saveFile(ask(format));
      setChoosing(false);
    } catch (reason) {
      toastError(reason);
    } finally {
      setLoading(false);
    }
  };
  return (
    <>
      <button type="button" class="button" onClick={() => setChoosing(true)}>
        <Icon name="download" /> Export
      </button>
      {choosing && (
        <Dialog title={`Export ${what}`} onClose={() => setChoosing(false)}>
          {FORMATS.map(([format, title, about]) => (
            <p key={format}>
              <button type="button" class="button" disabled={loading} onClick={() => void save(format)}>
                {title}
              </button>{' '}
              <span class="hint">{about}</span>
            </p>
          ))}
        </Dialog>
      )}
    </>
  );
}

/** Saves the file of an answer, under the name that the service gives it. Throws ApiError. */
async function saveFile(call: Exported): Promise<void> {
  const blob = await answer(call);
  const { headers } = (await call).response;
  const name = /filename="([^"]+)"/.exec(headers.get('Content-Disposition') ?? '')?.[1];
  const href = URL.createObjectURL(blob);
  const anchor = Object.assign(document.createElement('a'), { href, download: name ?? 'export' });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000); // the browser begins to save it later
}
