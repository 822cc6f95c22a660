import * as v from 'valibot';
import type { ExistingAccount } from '../../activities/providers/migration-port.ts';
import { ibanTaken } from '../../db/accounts/accounts.ts';
import { isIbanTaken } from '../../db/accounts/connections.ts';
import { findMigratedAccount, type MigratedAccount, migrateAccount } from '../../db/accounts/migrations.ts';
import { applyEarlyStatusChange } from '../../db/accounts/provider-status-changes.ts';
import { findAccount } from '../../db/accounts/reads.ts';
import { alreadyMigrated, requireClientAtProvider } from '../../db/clients/migrations.ts';
import type { Initiator } from '../../db/common/audit-entries.ts';
import { newId } from '../../db/common/ids.ts';
import { receiveEarlyArrivals } from '../../db/incoming-transfers/holds.ts';
import type { Transaction } from '../../db/query/database.ts';
import { type Account, CONNECT_METHODS, defaultAlias } from '../../domain/accounts/accounts.ts';
import { checkAccountFormats } from '../../domain/accounts/bank-accounts.ts';
import type { AccountDetails } from '../../domain/accounts/connections.ts';
import { presentRoutingCodes } from '../../domain/accounts/identifiers/routing-codes.ts';
import { type Problem, rejection } from '../../domain/common/errors.ts';
import { type AccountId, asId, type ClientId } from '../../domain/common/ids.ts';
import { isCountry } from '../../domain/common/parties/countries.ts';
import { ALIAS_LENGTH_MAX } from '../../domain/common/parties/names.ts';
import { offerOf, ownNumbersOf } from '../../domain/providers/providers.ts';
import type { RenderedAnswer } from '../http/route.ts';
import { rejectConflicts } from '../http/schemas/cross-checks.ts';
import { named } from '../http/schemas/named.ts';
import { currency, fields, optional, picklist, text, uuid } from '../http/schemas/schemas.ts';
import {
  type LookUp,
  lookUp,
  migrationSource,
  namedProvider,
  rejectProblems,
  sourceId,
} from '../providers/migrations.ts';

/** The body of `POST /accounts` with `workflow.code` `client.migration` (specification 4.5). */
export const migrationWorkflow = {
  data: fields({
    sourceId,
    account: named(
      'MigratedAccount',
      fields({ clientId: uuid<ClientId>(), currency: currency(), alias: optional(text(ALIAS_LENGTH_MAX)) }),
    ),
  }),
  connect: v.pipe(
    fields({ ...namedProvider.entries, method: optional(named('ConnectMethod', picklist(CONNECT_METHODS))) }),
    rejectConflicts(({ method }) => {
      if (method !== 'plug-in') return [];
      const message =
        'connect.method.type_mismatch: must be built-in: accounts are migrated by the service, not by the caller';
      return [{ path: ['method'], value: method, message }];
    }),
  ),
};

export interface AccountWanted {
  readonly clientId: ClientId;
  readonly currency: string;
  readonly alias?: string | undefined;
}

/**
 * Asks the provider to hand the account over, or replays the stored answer. The account is looked up and checked first, so that
 * the provider hands nothing over for a request that is rejected. Repeating a hand-over returns the first result: after a broken
 * connection, a repeated request continues where the first one stopped.
 */
export async function findAccountToMigrate(
  asked: Omit<LookUp, 'entity'>,
  wanted: AccountWanted,
  storedAnswer: () => Promise<RenderedAnswer | null>,
): Promise<MigratedAccount | RenderedAnswer> {
  const { services, provider, sourceId: id } = asked;
  const { reader } = services.database;
  const here = await findMigratedAccount(reader, asked);
  // Read after the idempotency key: the second of two requests with one key gets the first one's answer, not a conflict.
  const earlier = await storedAnswer();
  if (earlier !== null) return earlier;
  const source = migrationSource(services, provider);
  const client = await requireClientAtProvider(reader, 'account', { clientId: wanted.clientId, provider });
  if (here !== null) throw alreadyMigrated('account', asked, here);
  const of: LookUp = { ...asked, entity: 'account' };
  const alias = wanted.alias ?? defaultAlias(wanted.currency);
  const newAccountId = newId<AccountId>();

  const found = await lookUp(of, (call) => source.lookUpExistingAccount(id, call));
  const { iban } = checkExisting(of, wanted, client.reference, found);
  const taken = await isIbanTaken(reader, { id: newAccountId, currency: wanted.currency }, iban);
  // A concurrent request may have migrated this account: the transaction then answers this request.
  if (taken && (await findMigratedAccount(reader, asked)) === null) throw ibanTaken(null);

  const handedOver = await lookUp(of, (call) =>
    source.handOverAccount({ sourceId: id, accountId: newAccountId, alias }, call),
  );
  return {
    id: asId<AccountId>(handedOver.accountId),
    account: { clientId: wanted.clientId, currency: wanted.currency, alias },
    origin: { provider, sourceId: id, reference: handedOver.reference },
    details: checkExisting(of, wanted, client.reference, handedOver),
    openingMinor: handedOver.balanceMinor,
  };
}

/** Stores the account, and returns it with everything that its provider has reported since the hand-over. */
export async function storeMigratedAccount(
  tx: Transaction,
  migrated: MigratedAccount,
  initiator: Initiator,
): Promise<{ readonly account: Account; readonly connection: { readonly id: string } }> {
  const account = await migrateAccount(tx, migrated, initiator);
  await receiveEarlyArrivals(tx, account);
  await applyEarlyStatusChange(tx, account.id, account.provider);
  const now = await findAccount(tx, account.id);
  if (now === null || now.connection === null) throw new Error(`the migrated account ${account.id} has no connection`);
  return { account: now, connection: { id: now.connection.id } };
}

/** The account details to store, if owner, currency and the provider's data allow the migration. */
function checkExisting(of: LookUp, wanted: AccountWanted, owner: string, found: ExistingAccount): AccountDetails {
  const { services, provider } = of;
  const { country, currency: code } = found;
  if (found.clientReference !== owner) {
    const message = `At ${provider} this account belongs to another client.`;
    throw rejection('connect.client.mismatch', ['account', 'clientId', wanted.clientId], message);
  }
  if (code !== wanted.currency) {
    throw rejection(
      'account.currency.mismatch',
      ['account', 'currency', wanted.currency],
      `At ${provider} the account holds ${code}.`,
    );
  }
  const formats = checkAccountFormats(found, { entity: 'account', prefix: '' });
  const problems = [...formats.problems];
  if (!isCountry(country)) problems.push(invalid('country', 'The country must be an ISO 3166-1 alpha-2 code.'));
  if (found.balanceMinor < 0n) problems.push(invalid('balance', 'The account is overdrawn.'));
  rejectProblems(of, problems);
  if (offerOf({ provider, currency: code, country }, services.configuration.providers) === null) {
    const message = `${provider} offers no ${code} in ${country}.`;
    throw rejection('connect.offer.unavailable', ['account', 'currency', code], message);
  }
  const { iban, accountNumber, routingCodes } = ownNumbersOf(
    formats.details,
    provider,
    services.configuration.providers,
  );
  return { country, iban, accountNumber, routingCodes: presentRoutingCodes(routingCodes) };
}

function invalid(field: string, message: string): Problem {
  return { code: 'connect.resource.invalid', message, messageParameters: ['account', field, ''] };
}
