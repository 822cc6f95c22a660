import type { AccountId, BeneficiaryBankAccountId } from '../../domain/common/ids.ts';
import type { LockedAccount } from '../../domain/ledger/ledger.ts';
import type { BeneficiaryShown } from '../../domain/outgoing-transfers/outgoing-transfers.ts';
import type { PlanBankAccount } from '../../domain/outgoing-transfers/validation.ts';
import type { IdempotencyScope } from '../common/idempotency-keys.ts';
import { ACCOUNT_FIELDS, accountOf, type PerhapsAccount } from '../ledger/ledger.ts';
import type { Reader, Transaction } from '../query/database.ts';

/** An external transfer's destination: the fields to validate, and the beneficiary to store with the transfer. */
export interface DestinationBankAccount {
  readonly account: PlanBankAccount;
  readonly beneficiary: BeneficiaryShown;
}

/** The facts for validating a transfer request; unknown ids are absent or null. */
export interface TransferFacts {
  readonly accounts: ReadonlyMap<AccountId, LockedAccount>;
  readonly bankAccount: DestinationBankAccount | null;
  /** Read after the locks are taken, if they are. */
  readonly now: Date;
}

interface OpenedRow {
  readonly claimed: boolean;
  readonly now: Date | null;
  readonly accounts: readonly LockedAccountText[] | null;
  readonly bankAccount: BankAccountText | null;
}

type Minor = 'postedMinor' | 'reservedMinor';
type LockedAccountText = Omit<LockedAccount, Minor | 'partyAccountId'> &
  Readonly<Record<Minor, string>> & { readonly partyAccountId: string | null };

export interface BankAccountText extends PlanBankAccount {
  readonly accountHolderName: string;
  readonly alias: string | null;
  readonly fullName: string;
  readonly identity: Readonly<Record<string, unknown>> | null;
  readonly address: Readonly<Record<string, unknown>> | null;
  readonly title: string | null;
}

/** What a transfer request names. */
interface NamedIds {
  readonly source: AccountId;
  readonly destination: AccountId | null;
  readonly bankAccount: BeneficiaryBankAccountId | null;
}

const READ = `
  SELECT service_now() AS now, account.*, destination.shown AS "bankAccount"
  FROM (VALUES ($1::uuid), ($2::uuid)) AS asked (id)
    LEFT JOIN LATERAL (SELECT ${ACCOUNT_FIELDS} FROM payment_accounts a WHERE a.id = asked.id LIMIT 1) AS account ON true
    LEFT JOIN LATERAL (SELECT shown FROM destination_bank_accounts WHERE id = $3::uuid LIMIT 1) AS destination ON true`;

interface ReadRow extends PerhapsAccount {
  readonly now: Date;
  readonly bankAccount: BankAccountText | null;
}

/** The facts as of now, in one statement that locks nothing. */
export async function readFactsWithoutLocks(reader: Reader, ids: NamedIds): Promise<TransferFacts> {
  const rows = await reader.statement<ReadRow>(READ, [ids.source, ids.destination, ids.bankAccount]);
  const [first] = rows;
  if (first === undefined) throw new Error('the facts of a transfer are two rows');
  const accounts = rows.map(accountOf).filter((account) => account !== null);
  return {
    accounts: new Map(accounts.map((account) => [account.id, account])),
    bankAccount: first.bankAccount === null ? null : destinationOf(first.bankAccount),
    now: first.now,
  };
}

const OPEN = `SELECT claimed, opened_at AS now, locked_accounts AS accounts, destination_bank_account AS "bankAccount"
  FROM open_outgoing_transfer($1::uuid, $2, $3, $4, $5::bytea, $6::uuid, $7::uuid, $8::uuid)`;

/**
 * Claims the idempotency key, locks the accounts in the service's lock order and reads the facts, in one statement. Null if
 * the key is taken; then nothing was locked.
 */
export async function openOutgoingTransfer(
  tx: Transaction,
  claim: (IdempotencyScope & { readonly requestHash: Buffer }) | null,
  ids: NamedIds,
): Promise<TransferFacts | null> {
  const key = claim === null ? [null, null, null, null, null] : scopeOf(claim);
  const [row] = await tx.statement<OpenedRow>(OPEN, [...key, ids.source, ids.destination, ids.bankAccount]);
  if (row === undefined) throw new Error('open_outgoing_transfer returned no row');
  if (!row.claimed || row.now === null) return null;
  const accounts = new Map<AccountId, LockedAccount>();
  for (const account of row.accounts ?? []) {
    const { postedMinor, reservedMinor, partyAccountId } = account;
    accounts.set(account.id, {
      ...account,
      postedMinor: BigInt(postedMinor),
      reservedMinor: BigInt(reservedMinor),
      partyAccountId: partyAccountId === null ? null : BigInt(partyAccountId),
    });
  }
  return { accounts, bankAccount: row.bankAccount === null ? null : destinationOf(row.bankAccount), now: row.now };
}

function scopeOf({ machineUserId, method, path, key, requestHash }: IdempotencyScope & { requestHash: Buffer }) {
  return [machineUserId, method, path, key, requestHash];
}

/** Later changes of the beneficiary do not affect this copy. */
export function destinationOf(read: BankAccountText): DestinationBankAccount {
  const { id, beneficiaryId, clientId, status, country, currency, fullName, identity, address, title } = read;
  const { accountHolderName, alias, accountNumber, iban, routingCodes } = read;
  return {
    account: { id, beneficiaryId, clientId, status, country, currency, accountNumber, iban, routingCodes },
    beneficiary: {
      fullName,
      identity,
      address,
      title,
      account: { accountHolderName, alias, ledgerNumber: null, accountNumber, iban, country, currency, routingCodes },
    },
  };
}
