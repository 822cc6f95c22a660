import { readIncomingSituation } from '../../db/incoming-transfers/situations.ts';
import { asId, type IncomingTransferId } from '../../domain/common/ids.ts';
import { Id, Status } from '../look/values.tsx';
import type { PageContext } from '../page/page.ts';
import { offReason } from '../remedies/remedy-pages.tsx';
import { type Candidate, readCandidates } from './candidates.ts';
import { assignRemedy } from './remedies.ts';

/**
 * Whose the money may be, on the page of an incoming transfer: each near account with what speaks for and against it. Nothing unless the
 * money waits for an owner.
 */
export async function NearAccounts({ context }: { readonly context: PageContext }) {
  const { services, params, person } = context;
  const { reader } = services.database;
  const situation = await readIncomingSituation(reader, asId<IncomingTransferId>(params.id ?? ''));
  if (situation === null) return null;
  const { transfer, now } = situation;
  if (transfer.accountId !== null || transfer.status !== 'on-hold') return null;
  const { candidates, areMore } = await readCandidates(reader, transfer, person.id, now);
  return (
    <section class="card">
      <h2>Who is it for?</h2>
      {candidates.length === 0 ? (
        <p>
          No account has its IBAN or its account number, and its reference has no ledger number. Ask its payer, or
          search for the client and assign it by the account’s id.
        </p>
      ) : (
        <ul class="plain">
          {candidates.map((candidate) => (
            <NearAccount context={context} candidate={candidate} />
          ))}
        </ul>
      )}
      {areMore ? <p class="quiet">More accounts share its bank details: these have the best evidence.</p> : null}
    </section>
  );
}

function NearAccount({ context, candidate }: { readonly context: PageContext; readonly candidate: Candidate }) {
  const { privacy, params } = context;
  const { near, holder, common, difference, assignment } = candidate;
  const off = offReason(assignRemedy, context) ?? ('rejected' in assignment ? assignment.rejected : null);
  const earlier = holder?.earlierPayments ?? 0;
  return (
    <li>
      <h3>
        <Id of={near.id} to={`/accounts/${near.id}`} />, {privacy.name(holder?.accountHolderName ?? null)}{' '}
        <Status of={near.status} />
      </h3>
      <dl>
        <dt>For it</dt>
        <dd>
          It has the {common}.
          {earlier === 0
            ? ''
            : ` This payer has paid into it ${earlier} ${earlier === 1 ? 'time' : 'times'} among its newest payments.`}
        </dd>
        <dt>Against it</dt>
        <dd>
          It {difference}
          {earlier === 0 ? ' No newer payment into it came from this payer.' : ''}
        </dd>
        <dt>Assign</dt>
        <dd>
          {off === null ? (
            <a
              href={`/incoming-transfers/${encodeURIComponent(params.id ?? '')}/${assignRemedy.kind}?account=${near.id}`}
            >
              Assign it to this account
            </a>
          ) : (
            <small>{off}</small>
          )}
        </dd>
      </dl>
    </li>
  );
}
