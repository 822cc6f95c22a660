import { and, asc, eq, sql } from 'drizzle-orm';
import type { BankAccountDetails } from '../../domain/accounts/bank-accounts.ts';
import type { AccountId, BeneficiaryBankAccountId, ClientId } from '../../domain/common/ids.ts';
import type { Initiator } from '../common/audit-entries.ts';
import { beneficiaries, beneficiaryBankAccounts } from '../common/schema.ts';
import { lockAccounts } from '../ledger/ledger.ts';
import type { Transaction } from '../query/database.ts';
import { type Given, prepared } from '../query/queries.ts';
import { createBeneficiary } from './beneficiaries.ts';

/** Whom a third party pays for a client, identified only by name and bank account. */
export interface Creditor {
  readonly clientId: ClientId;
  readonly name: string;
  readonly bankAccount: BankAccountDetails;
}

type Values = Omit<Creditor, 'bankAccount'> & BankAccountDetails;

const FIND = prepared((db, given: Given<Values>) => {
  const [owner, account] = [beneficiaries, beneficiaryBankAccounts];
  return db
    .select({ id: account.id })
    .from(owner)
    .innerJoin(account, eq(account.beneficiaryId, owner.id))
    .where(
      and(
        eq(owner.clientId, given.clientId),
        eq(owner.fullName, given.name),
        eq(account.status, 'active'),
        eq(account.accountHolderName, given.name),
        eq(account.country, given.country),
        eq(account.currency, given.currency),
        sql`${account.accountNumber} IS NOT DISTINCT FROM ${given.accountNumber}`,
        sql`${account.iban} IS NOT DISTINCT FROM ${given.iban}`,
        sql`${account.routingCodes} = ${given.routingCodes}::jsonb`,
      ),
    )
    .orderBy(asc(account.id))
    .limit(1);
});

/** Arbitrary; with the creditor it is the key of an advisory lock. */
const CREATION_LOCK = 7423044;
const LOCK_CREATION = 'SELECT pg_advisory_xact_lock(hashtextextended($1, $2))';

/**
 * The client's bank account of this creditor: an existing one, or else a new beneficiary's. Of two concurrent payments to a new
 * creditor the second waits, and finds it. A new one takes the paying account's lock, then the creditor's, then shares the client's.
 */
export async function findOrCreateCreditor(
  tx: Transaction,
  { clientId, name, bankAccount }: Creditor,
  payer: AccountId,
  initiator: Initiator,
): Promise<BeneficiaryBankAccountId> {
  const wanted = { clientId, name, ...bankAccount };
  const found = (await tx.first(FIND, wanted)) ?? (await findUnderLock(tx, payer, wanted));
  if (found !== null) return found.id;
  const created = await createBeneficiary(
    tx,
    {
      clientId,
      identity: null,
      fullName: name,
      title: null,
      contact: null,
      bankAccounts: [{ ...bankAccount, accountHolderName: null, accountHolderType: null, bankName: null, alias: null }],
    },
    initiator,
  );
  const [account] = created.bankAccounts;
  if (account === undefined) throw new Error('a beneficiary was created without its bank account');
  return account.id;
}

/** Takes the creditor's lock and looks again: another payment may have created the beneficiary. */
async function findUnderLock(
  tx: Transaction,
  payer: AccountId,
  wanted: Values,
): Promise<{ id: BeneficiaryBankAccountId } | null> {
  const { clientId, name, iban, accountNumber, routingCodes } = wanted;
  // Accounts come before their client: a change of the client's status has locked them, and waits for the client.
  await lockAccounts(tx, [payer]);
  await tx.statement(LOCK_CREATION, [
    JSON.stringify([clientId, name, iban, accountNumber, routingCodes]),
    CREATION_LOCK,
  ]);
  return tx.first(FIND, wanted);
}
