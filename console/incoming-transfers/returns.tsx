import type { Initiator } from '../../db/common/audit-entries.ts';
import type { IncomingTransferShown } from '../../db/incoming-transfers/reads.ts';
import { type MovedTransfer, moneyReturn } from '../../db/incoming-transfers/requested-changes.ts';
import { changeUnderLocks } from '../../db/transfers/requested-changes.ts';
import { rejection } from '../../domain/common/errors.ts';
import type { IncomingTransferId } from '../../domain/common/ids.ts';
import { formatAmount } from '../../domain/common/money.ts';
import { statusReason } from '../../domain/common/texts/status-reasons.ts';
import type { IncomingTransfer } from '../../domain/incoming-transfers/incoming-transfers.ts';
import { availableMinor } from '../../domain/ledger/ledger.ts';
import { RETURN_CODES } from '../../domain/outgoing-transfers/requests/return-terms.ts';
import { type AskedReturn, leftToReturnMinor } from '../../domain/outgoing-transfers/requests/returns.ts';
import { amountText, Id, Status } from '../look/values.tsx';
import type { PageContext } from '../page/page.ts';
import { decided } from '../remedies/decided.ts';
import type { Outcome, Preview, RemedyField } from '../remedies/remedy.ts';

// Completed money that goes back to its payer: what a person sees and does about it.

/** What returning all that is left would do now. */
export async function previewOfReturn(context: PageContext, transfer: IncomingTransfer): Promise<Preview> {
  const { services, person, privacy } = context;
  const { database, configuration: rules } = services;
  const title = `Return ${transfer.transactionNumber}`;
  const asked = { amount: null, code: 'CUST' } as const;
  const request = moneyReturn({ id: transfer.id, initiator: { actor: person.id, requestId: null } }, { asked, rules });
  const facts = await request.read(database);
  if (facts === null) throw new Error(`incoming transfer ${transfer.id} is gone`);
  const decision = decided(() => request.decide(facts).change?.outgoing?.after ?? null);
  if ('rejected' in decision) {
    return { title, consequences: ['It stays as it is.'], unavailable: decision.rejected };
  }
  const { amountMinor, currency, returningMinor } = facts.transfer;
  const leftMinor = leftToReturnMinor(facts.transfer);
  const money = (minor: bigint) => amountText(minor, currency);
  const available = facts.account === null ? 0n : availableMinor(facts.account);
  const waitingFor = decision.change?.waitingFor ?? null;
  return {
    title,
    consequences: [
      `${money(leftMinor)} of ${money(amountMinor)} can go back to its payer ${privacy.name(transfer.senderName)} by ${transfer.scheme}; ${money(returningMinor)} has gone or is on its way.`,
      `It is the client’s money: ${money(available)} is available on the account, and ${money(available - leftMinor)} after all that is left has gone.`,
      'It goes by an outgoing transfer. Until that is submitted, it can be cancelled.',
      ...(waitingFor === null || waitingFor === 'provider' ? [] : [`That waits for ${waitingFor} first.`]),
    ],
    fields: fieldsOf(leftMinor, currency),
  };
}

function fieldsOf(leftMinor: bigint, currency: string): readonly RemedyField[] {
  const left = formatAmount(leftMinor, currency);
  return [
    { name: 'amount', label: 'Amount', kind: 'text', hint: 'All that is left, or a part of it.', initial: left },
    {
      name: 'code',
      label: 'Why does it go back?',
      kind: 'choice',
      choices: RETURN_CODES.map((code) => [code, `${code}: ${statusReason(code, null)?.message}`] as const),
    },
    {
      name: 'left',
      label: 'Left to return',
      kind: 'choice',
      hint: 'If that changes before you confirm, nothing is returned.',
      choices: [[String(leftMinor), `${left} ${currency}`]],
      initial: String(leftMinor),
    },
  ];
}

/** Returns what the form says. */
export async function returnCompleted(
  { services: { database, configuration: rules } }: PageContext,
  id: IncomingTransferId,
  fields: Readonly<Record<string, string>>,
  initiator: Initiator,
): Promise<Outcome> {
  const code = RETURN_CODES.find((one) => one === fields.code);
  if (code === undefined) {
    throw rejection(
      'common.validation.field_invalid',
      ['incomingTransfer', 'statusReason', ''],
      'Say why it goes back.',
    );
  }
  const asked: AskedReturn = { amount: fields.amount ?? null, code, seenLeftMinor: BigInt(fields.left ?? '-1') };
  const request = moneyReturn({ id, initiator }, { asked, rules });
  return outcomeOf(await database.transaction((tx) => changeUnderLocks(tx, request)));
}

function outcomeOf({ transfer, returns }: MovedTransfer): Outcome {
  const made = returns.at(-1);
  if (made === undefined) throw new Error(`incoming transfer ${transfer.id} has no return`);
  const amount = amountText(made.amountMinor, transfer.currency);
  const goTo = `/outgoing-transfers/${made.id}`;
  return made.status === 'pending'
    ? { state: 'done', text: `The return of ${amount} is made; its own page says what it waits for.`, goTo }
    : { state: 'unknown', text: `${amount} is on its way back; what came of it is not known yet.`, goTo };
}

/** The returns of an incoming transfer, each with its outgoing transfer. */
export function Returns({ shown: { returns, currency } }: { readonly shown: IncomingTransferShown }) {
  if (returns.length === 0) return null;
  return (
    <section class="card">
      <h2>Returns to the payer</h2>
      <ul class="plain">
        {returns.map(({ outgoingTransferId, amount, code, status }) => (
          <li>
            <Status of={status} /> {amount.toString()} {currency}, {code}:{' '}
            <Id of={outgoingTransferId} to={`/outgoing-transfers/${outgoingTransferId}`} />
          </li>
        ))}
      </ul>
    </section>
  );
}
