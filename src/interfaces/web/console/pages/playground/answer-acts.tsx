import { useState } from 'preact/hooks';
import { can } from '../../shared/account.js';
import { AddToDataset, type RecordChoice } from '../../shared/add-to-dataset.js';
import { Dialog } from '../../shared/dialog.js';
import { type Feedback, FeedbackForm, giveFeedback, Thumbs } from '../../shared/feedback-form.js';
import { useAction } from '../../shared/form.js';
import { link } from '../../shared/router.js';
import { toast } from '../../shared/toasts.js';
import type { Message } from './chat.js';

/** Lets the user judge an answer and add it to a dataset. `messages` are those up to the answer, which is the last one. */
export function AnswerActs({ project, messages }: { project: string; messages: readonly Message[] }) {
  const [adding, setAdding] = useState(false);
  const message = messages.at(-1) as Message;
  return (
    <>
      {can('edit_workspace') && (
        <button type="button" class="button small" onClick={() => setAdding(true)}>
          Add to a dataset
        </button>
      )}
      {message.answerId && <Judgement project={project} call={message.answerId} answer={message.text} />}
      {adding && (
        <AddToDataset project={project} choices={choicesOf(messages, message)} onClose={() => setAdding(false)} />
      )}
    </>
  );
}

/** Gives feedback on the call of an answer. Only an answer of this page has the id of its call. */
function Judgement({ project, call, answer }: { project: string; call: string; answer: string }) {
  const [said, setSaid] = useState<Feedback | null>(null);
  const [isOpen, setOpen] = useState(false);
  const giving = useAction(async (score: number) => {
    const { label = null, comment = null, correction = null } = said ?? {};
    setSaid(await giveFeedback(call, { score, label, comment, correction }));
  });
  const { error } = giving;
  return (
    <>
      <Thumbs
        score={said?.score ?? null}
        disabled={giving.busy}
        onScore={(score) => (score === null ? setOpen(true) : void giving.run(score))}
      />
      {said && (
        <button type="button" class="button small" onClick={() => setOpen(true)}>
          Say more
        </button>
      )}
      <span class="playground-unkept hint" role="status">
        {error?.status === 404 ? (
          <>
            This call is not kept, so it takes no feedback.{' '}
            <a href={link(`/projects/${project}/recording`)}>Recording</a>
          </>
        ) : (
          error?.message
        )}
      </span>
      {isOpen && (
        <Dialog title="Feedback on this answer" onClose={() => setOpen(false)}>
          <FeedbackForm
            call={call}
            before={said}
            answer={answer}
            onCancel={() => setOpen(false)}
            onSaved={(feedback) => {
              setSaid(feedback);
              setOpen(false);
              toast('Your feedback is saved.');
            }}
          />
        </Dialog>
      )}
    </>
  );
}

/** Returns the ways to make a record of a chat: of its only question, or of all messages before the answer. */
function choicesOf(messages: readonly Message[], { text, answerId }: Message): readonly RecordChoice[] {
  const before = messages.slice(0, -1).filter(({ role }) => role !== 'tool');
  const [first, ...others] = before;
  const input = others.length === 0 ? first?.text : before.map(({ role, text: content }) => ({ role, content }));
  const origin = answerId ? { origin: { call_id: answerId } } : {};
  const of = (words: string, expected: object): RecordChoice => ({
    words,
    body: { records: [{ input, ...expected, ...origin }] },
  });
  return [of('This answer', { expected: text }), of('None yet', {})];
}
