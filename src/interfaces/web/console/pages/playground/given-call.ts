import { useEffect } from 'preact/hooks';
import { answer, api } from '../../shared/api.js';
import { type CallRequest, requestIn } from '../../shared/call-content.js';
import { useDraft } from '../../shared/draft.js';
import { useQuery } from '../../shared/query.js';
import { query, setQuery } from '../../shared/router.js';
import { toast, toastError } from '../../shared/toasts.js';
import type { Chat } from './chat.js';
import { defaultSettings, type HistoryMessage, numberFields, type Settings } from './request.js';

/**
 * Fills a chat with the messages and the settings of the call that `call` in the address names. The last question becomes
 * the draft, which the user sends.
 */
export function useGivenCall(chat: Chat | null, change: (settings: Partial<Settings>) => void): void {
  const id = query.value.get('call');
  const [, keepQuestion] = useDraft<string>('playground question');
  const path = { project_id: chat?.projectId ?? '', call_id: id ?? '' };
  const call = useQuery(chat && id ? `call ${path.project_id} ${id}` : null, () =>
    answer(api.GET('/v1/projects/{project_id}/calls/{call_id}', { params: { path } })),
  );
  useEffect(() => {
    if (!chat || !id || (!call.data && !call.error)) return;
    setQuery({ call: null });
    if (!call.data) return toastError(call.error);
    const request = requestIn(call.data);
    const { history, question } = turnsOf(request);
    chat.show(history);
    change(settingsOf(request));
    keepQuestion(question);
    if (request.tools.length > 0 || request.messages.some(({ role, images }) => role === 'tool' || images > 0))
      toast('The playground has no tools and images: those of the call are left out.');
  }, [chat, id, call.data, call.error]);
}

/** Returns the messages before the last question, and this question. */
function turnsOf({ messages }: CallRequest): { history: readonly HistoryMessage[]; question: string | null } {
  const turns = messages.flatMap(({ role, text }): HistoryMessage[] =>
    (role === 'user' || role === 'assistant') && text !== '' ? [{ role, text }] : [],
  );
  const last = turns.at(-1);
  return last?.role === 'user'
    ? { history: turns.slice(0, -1), question: last.text }
    : { history: turns, question: null };
}

function settingsOf({ messages, settings }: CallRequest): Settings {
  const given = new Map<string, unknown>(settings);
  const stop = given.get('stop');
  const numbers = numberFields.filter((name) => typeof given.get(name) === 'number');
  const system = messages.filter(({ role }) => role === 'system').map(({ text }) => text);
  return {
    ...defaultSettings,
    system: system.join('\n\n'),
    ...Object.fromEntries(numbers.map((name) => [name, String(given.get(name))])),
    ...(Array.isArray(stop) && { stop: stop.filter((text) => typeof text === 'string').join('\n') }),
  };
}
