import { formatShare } from '../../shared/format.js';
import { Panel } from '../../shared/frame.js';
import { recordingOf } from '../../shared/recording.js';

/** Tells what the settings mean for the people who ask. */
export function Meaning({ spec }: { spec: Readonly<Record<string, unknown>> }) {
  const { share, content, days, mask } = recordingOf(spec);
  const isOff = share === 0;
  return (
    <Panel title="What this means">
      <dl class="recording-meaning">
        <dt>What is kept</dt>
        <dd>
          {isOff && 'Nothing beside the job of each call, which never has a text.'}
          {!isOff && (
            <>
              {share >= 1 ? 'Each call' : `${formatShare(share)} of the calls`},{' '}
              {content === 'full'
                ? 'with what was asked and answered.'
                : 'with its figures and the feedback on it. Nobody can read what was asked or answered.'}
            </>
          )}
        </dd>
        {!isOff && (
          <>
            <dt>Who reads it</dt>
            <dd>The admins and developers of this team read all calls. Members read only their own.</dd>
            <dt>How long</dt>
            <dd>
              {days === 1 ? 'A day' : `${days} days`}, then a call is deleted with its feedback. It is deleted sooner
              with its account or its project, or by hand.
            </dd>
          </>
        )}
        {!isOff && content === 'full' && (
          <>
            <dt>Personal data</dt>
            <dd>
              {mask.length === 0
                ? 'Nothing is masked: prompts and answers are stored as they are. Tell the people who ask.'
                : 'Masking finds what has the form of such data. Names, addresses and what people tell of themselves stay readable.'}
            </dd>
          </>
        )}
        <dt>Not decided here</dt>
        <dd>
          Conversations of the playground and stored responses of the API are kept apart from this, for the account that
          made them, and are not masked. A record that was added to a dataset stays until it is deleted there.
        </dd>
      </dl>
    </Panel>
  );
}
