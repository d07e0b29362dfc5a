import { useState } from 'preact/hooks';
import { baseUrl } from '../../shared/api.js';
import { CopyButton } from '../../shared/copy-button.js';
import { Dialog } from '../../shared/dialog.js';
import { codeOf, type Language, languages } from './code.js';
import type { ChatRequest } from './request.js';

export function CodeView({ request, onClose }: { request: ChatRequest; onClose: () => void }) {
  const [language, choose] = useState<Language>('curl');
  const code = codeOf(language, request, baseUrl);
  return (
    <Dialog title="This request as code" wide onClose={onClose}>
      <div class="actions start">
        {(Object.entries(languages) as [Language, string][]).map(([name, words]) => (
          <button
            key={name}
            type="button"
            class="button small"
            aria-pressed={name === language}
            onClick={() => choose(name)}
          >
            {words}
          </button>
        ))}
        <CopyButton text={code} label="Copy the code" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrolling element. */}
      <pre class="playground-program" tabIndex={0}>
        {code}
      </pre>
      <p class="hint">
        KEY is an API key of yours. The playground sends the header X-Conversation-Id beside it, which keeps the
        conversation.
      </p>
    </Dialog>
  );
}
