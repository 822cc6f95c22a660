import type { Child } from 'hono/jsx';
import { explain } from '../../cli/operations/why/explain.ts';
import { withoutAdvice } from '../../cli/operations/why/explanation.ts';
import type { FoundRow } from '../../db/search/search.ts';
import { waitInWords } from '../../domain/common/waits.ts';
import type { ResourceWait } from '../../domain/timelines/waits.ts';
import { workflowLink } from '../look/links.ts';
import { Instant } from '../look/values.tsx';
import type { PageContext } from '../page/page.ts';

/** A page does not wait longer for Temporal: it says that it is not known. */
const TEMPORAL_MS_MAX = 1_500;

export type Explained = Awaited<ReturnType<typeof explain>>;

/** What `why` knows of the resource. */
export function explained({ services }: PageContext, row: FoundRow): Promise<Explained> {
  const { database, temporal, configuration: rules } = services;
  return explain({ reader: database.reader, temporal, rules, answerTimeoutMs: TEMPORAL_MS_MAX }, row);
}

interface Props {
  readonly context: PageContext;
  readonly explained: Explained;
  /** What would release it, in sentences; null: it waits for nothing. */
  readonly wait: ResourceWait | null;
  readonly zone: string;
  /** What it still needs before it is paid; empty if it has no such conditions. */
  readonly requirements: readonly (readonly [name: string, status: string])[];
}

/** What it waits for, since and until when, what is met and what not, and what will happen then. */
export function Waits({ context, explained: { explanation, workflow }, wait, zone, requirements }: Props) {
  const { status, workflowId } = explanation;
  const until = wait?.until ?? dateOf(explanation.wait?.until ?? null);
  const since = wait?.since ?? dateOf(explanation.wait?.since ?? null);
  const words = explanation.wait === null ? null : waitInWords({ ...explanation.wait, since: null, until: null });
  return (
    <section class="card">
      <h2>{words === null ? 'It waits for nothing' : `It waits for ${words}`}</h2>
      {words === null ? (
        <p>It is {status}.</p>
      ) : (
        <dl>
          <dt>Since</dt>
          <dd>
            <Instant at={since} zone={zone} />
          </dd>
          <dt>Until</dt>
          <dd>{until === null ? 'it is released' : <Instant at={until} zone={zone} />}</dd>
        </dl>
      )}
      <ul class="plain">
        {explanation.wait?.untilMeans == null ? null : <li>{explanation.wait.untilMeans}</li>}
        {releasesOf(wait).map((sentence) => (
          <li>What releases it: {sentence}</li>
        ))}
        {explanation.obstacles.map((obstacle) => (
          <li class="bad">In its way: {withoutAdvice(obstacle)}</li>
        ))}
        {explanation.breaks.map(({ id, kind, ours, providers }) => (
          <li class="bad">
            <a href={`/reconciliation-breaks/${id}`}>Open break {kind}</a>: we have {ours ?? 'nothing'}, the provider{' '}
            {providers ?? 'nothing'}
          </li>
        ))}
      </ul>
      {requirements.length === 0 ? null : <Requirements requirements={requirements} />}
      <Workflow context={context} workflowId={workflowId} workflow={workflow} />
    </section>
  );
}

/** What people do here, where the interface's sentence names a call or a command. */
const HERE: Readonly<Partial<Record<ResourceWait['for'], Child>>> = {
  authorization: (
    <>
      a second signature, by an approver who did not cause it: <a href="/approvals">Approvals</a>.
    </>
  ),
  compliance: (
    <>
      a decision of compliance: <a href="/reviews">Reviews</a>.
    </>
  ),
  match: 'an account to which it is assigned, or its return to the payer: below.',
  caller: 'the report of the caller that pays it.',
};

function releasesOf(wait: ResourceWait | null): readonly Child[] {
  if (wait === null) return [];
  const here = HERE[wait.for];
  return here === undefined ? wait.releasedBy : [here];
}

function dateOf(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}

const MET: Readonly<Record<string, readonly [words: string, tone: string]>> = {
  fulfilled: ['met', 'good'],
  'not-fulfilled': ['not met', 'bad'],
  'not-checked': ['not yet met', 'warn'],
  'not-required': ['not needed', ''],
};

function Requirements({ requirements }: Pick<Props, 'requirements'>) {
  return (
    <>
      <h3>Conditions</h3>
      <dl>
        {requirements.map(([name, status]) => {
          const [words, tone] = MET[status] ?? [status, ''];
          return (
            <>
              <dt>{name}</dt>
              <dd>
                <span class={`status ${tone}`}>{words}</span>
              </dd>
            </>
          );
        })}
      </dl>
    </>
  );
}

function Workflow({
  context: { services },
  workflowId,
  workflow: { state, text },
}: {
  readonly context: PageContext;
  readonly workflowId: string | null;
  readonly workflow: Explained['workflow'];
}) {
  if (workflowId === null) return <p class="quiet">It has no workflow now, and needs none.</p>;
  const link = workflowLink(services.settings, workflowId);
  return (
    <p class={state === 'unknown' ? 'warn' : 'quiet'}>
      Workflow {link === null ? <span class="id">{workflowId}</span> : <a href={link}>{workflowId}</a>}:{' '}
      {state === 'unknown' ? 'not known, as Temporal does not answer.' : withoutAdvice(text)}
    </p>
  );
}

/** What was tried at the bank. */
export function Attempts({ explained: { explanation } }: Pick<Props, 'explained'>) {
  const { attempts } = explanation;
  return (
    <section class="card">
      <h2>Attempts at the bank</h2>
      {attempts.length === 0 ? <p>None yet.</p> : null}
      <ul class="plain">
        {attempts.map((attempt) => (
          <li>{attempt}</li>
        ))}
      </ul>
    </section>
  );
}
