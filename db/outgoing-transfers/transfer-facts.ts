import type { AccountId, BeneficiaryBankAccountId } from '../../domain/frame/ids.ts';
import type { LockedAccount } from '../../domain/ledger/ledger.ts';
import type { BeneficiaryShown } from '../../domain/outgoing-transfers/outgoing-transfers.ts';
import type { PlanBankAccount } from '../../domain/outgoing-transfers/plans.ts';
import type { Transaction } from '../driver/client.ts';
import type { IdempotencyScope } from '../frame/idempotency-keys.ts';

/** An external transfer's destination: the fields to validate, and the beneficiary to store with the transfer. */
export interface DestinationBankAccount {
  readonly account: PlanBankAccount;
  readonly beneficiary: BeneficiaryShown;
}

/** The facts for validating a transfer request, with its accounts locked; unknown ids are absent or null. */
export interface TransferFacts {
  readonly accounts: ReadonlyMap<AccountId, LockedAccount>;
  readonly bankAccount: DestinationBankAccount | null;
  /** Read after taking the locks. */
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

const OPEN = `SELECT claimed, opened_at AS now, locked_accounts AS accounts, destination_bank_account AS "bankAccount"
  FROM open_outgoing_transfer($1::uuid, $2, $3, $4, $5::bytea, $6::uuid, $7::uuid, $8::uuid)`;

/**
 * Claims the idempotency key, locks the accounts in the service's lock order and reads the facts, in one statement. Null if
 * the key is taken; then nothing was locked.
 */
export async function openOutgoingTransfer(
  tx: Transaction,
  claim: (IdempotencyScope & { readonly requestHash: Buffer }) | null,
  ids: {
    readonly source: AccountId;
    readonly destination: AccountId | null;
    readonly bankAccount: BeneficiaryBankAccountId | null;
  },
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
