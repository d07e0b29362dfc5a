import { user } from '../../shared/account.js';
import type { Schemas } from '../../shared/api.js';
import { answersIn, type Call } from '../../shared/call-content.js';
import { FeedbackForm } from '../../shared/feedback-form.js';
import { Panel } from '../../shared/frame.js';
import { Time } from '../../shared/states.js';
import { toast } from '../../shared/toasts.js';
import type { Names } from './names.js';
import { Score } from './score-mark.js';

type Feedback = Schemas['Feedback'];

/** Shows the feedback on a call, and a form for one's own. What an account has said before is folded away. */
export function FeedbackPanel(props: { call: Call; names: Names; reload: () => Promise<void> }) {
  const { call, names, reload } = props;
  const current = call.feedback.filter(({ is_current }) => is_current);
  const earlier = call.feedback.filter(({ is_current }) => !is_current);
  const own = current.find(({ account_id }) => account_id === user.value?.id);
  const others = current.filter((one) => one !== own);
  return (
    <Panel title="Feedback">
      <div class="stack">
        {others.length > 0 && <Said feedback={others} names={names} label="What others say" />}
        <FeedbackForm
          key={call.id}
          call={call.id}
          before={own ?? null}
          answer={answersIn(call)[0]?.text ?? ''}
          onSaved={async () => {
            toast('Your feedback is saved.');
            await reload();
          }}
        />
        {earlier.length > 0 && (
          <details>
            <summary>Earlier feedback ({earlier.length})</summary>
            <Said feedback={earlier} names={names} label="Earlier feedback" />
          </details>
        )}
      </div>
    </Panel>
  );
}

const Said = ({ feedback, names, label }: { feedback: readonly Feedback[]; names: Names; label: string }) => (
  <ul class="calls-feedback" aria-label={label}>
    {feedback.map((one) => (
      <li key={one.id}>
        <p class="calls-marks">
          {one.score !== null && <Score score={one.score} />}
          {one.label !== null && <span class="badge">{one.label}</span>}
          <span class="hint">
            {names.person(one.account_id)}, <Time at={one.created_at} />
          </span>
        </p>
        {one.comment !== null && <p dir="auto">{one.comment}</p>}
        {one.correction !== null && (
          <p dir="auto" class="calls-text">
            <span class="hint">Should have been: </span>
            {typeof one.correction === 'string' ? one.correction : JSON.stringify(one.correction)}
          </p>
        )}
      </li>
    ))}
  </ul>
);
