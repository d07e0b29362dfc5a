import { useState } from 'preact/hooks';
import { answer, api, type Schemas } from './api.js';
import { Field, Form, TextField, useForm } from './form.js';
import { Icon } from './icon.js';

export type Feedback = Schemas['Feedback'];
type Content = Partial<Pick<Feedback, 'score' | 'label' | 'comment' | 'correction'>>;

/** Says something about a call, by its id or the id in its answer. Replaces what the account has said before. */
export const giveFeedback = (call: string, content: Content): Promise<Feedback> =>
  answer(api.POST('/v1/calls/{call_id}/feedback', { params: { path: { call_id: call } }, body: content }));

const THUMBS = [
  ['good', 1, 'Good answer'],
  ['bad', -1, 'Bad answer'],
] as const;

/** Two buttons for a good and a bad answer. The pressed one again takes the score back. */
export const Thumbs = (props: {
  score: number | null;
  disabled?: boolean;
  onScore: (score: number | null) => void;
}) => (
  <span class="thumbs">
    {THUMBS.map(([icon, score, label]) => {
      const isPressed = props.score === score;
      return (
        <button
          key={icon}
          type="button"
          class={`icon-button thumb ${icon}`}
          aria-label={label}
          title={label}
          aria-pressed={isPressed}
          disabled={props.disabled}
          onClick={() => props.onScore(isPressed ? null : score)}
        >
          <Icon name={icon} />
        </button>
      );
    })}
  </span>
);

const written = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 2);

/** Edits the feedback of the account on a call. `before` is what it has said so far, `answer` the answer of the call. */
export function FeedbackForm(props: {
  call: string;
  before: Content | null;
  answer: string;
  onSaved: (feedback: Feedback) => unknown;
  onCancel?: () => void;
}) {
  const { call, before, answer: text, onSaved, onCancel } = props;
  const [score, setScore] = useState(before?.score ?? null);
  const corrected = written(before?.correction);
  const [values, setValues] = useState({
    label: before?.label ?? '',
    comment: before?.comment ?? '',
    correction: corrected,
  });
  const saving = useForm(values, setValues, async () => {
    const { label, comment, correction } = values;
    // A correction that is not a text stays exact, unless it is changed.
    const sent = correction === corrected ? (before?.correction ?? null) : correction.trim() === '' ? null : correction;
    const content = { score, label: label.trim() || null, comment: comment.trim() || null, correction: sent };
    await onSaved(await giveFeedback(call, content));
  });
  return (
    <Form act={saving} submit="Save the feedback" plain class="feedback-form" onCancel={onCancel}>
      <div class="choice">
        <span>Was the answer good?</span>
        <Thumbs score={score} onScore={setScore} />
      </div>
      <Field label="Label" maxLength={64} placeholder="Such as helpful, wrong, too long" {...saving.field('label')} />
      <TextField label="Comment" rows={2} {...saving.field('comment')} />
      <TextField
        label="What the answer should have been"
        rows={3}
        hint="It can become the expected answer of a record."
        {...saving.field('correction')}
      />
      {text !== '' && values.correction === '' && (
        <div class="actions start">
          <button type="button" class="button small" onClick={() => setValues({ ...values, correction: text })}>
            Begin with the answer
          </button>
        </div>
      )}
    </Form>
  );
}
