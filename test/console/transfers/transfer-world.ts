import { newId } from '../../../db/common/ids.ts';
import { addDays, dateInUtc } from '../../../domain/common/time/dates.ts';
import { type Json, startApi, type TestApi } from '../../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/servers/postgres.ts';
import { type ConsoleOptions, type ConsoleUnderTest, startConsole } from '../console-under-test.ts';

/** Payments of this and more, in units of the currency, need a second signature. */
export const SIGNED_FROM = 1_000;
/** A date that no transfer of a test reaches. */
export const LATER = addDays(dateInUtc(new Date()), 300);

/** The API and the console on one database, with an account that can pay. */
export interface TransferWorld {
  readonly testDatabase: TestDatabase;
  readonly api: TestApi;
  readonly world: MoneyWorld;
  readonly underTest: ConsoleUnderTest;
  readonly client: string;
  readonly account: string;
  readonly receiver: string;
  /** An internal transfer. */
  pay(given?: {
    readonly amount?: number;
    readonly transferDate?: string;
    readonly description?: string;
    readonly from?: string;
  }): Promise<Json>;
  find(id: string): Promise<Json>;
  /** The audit entries of a resource, in their order. */
  audit(resourceId: string): Promise<AuditRow[]>;
  stop(): Promise<void>;
}

interface AuditRow {
  readonly resource: string;
  readonly action: string;
  readonly actor: string;
  readonly role: string | null;
  readonly reason: string | null;
  readonly requestId: string | null;
}

export async function transferWorld(name: string, options: ConsoleOptions = {}): Promise<TransferWorld> {
  const testDatabase = await createTestDatabase(name);
  const api = await startApi(testDatabase, { env: { AUTHORIZATION_RULE: String(SIGNED_FROM) } });
  const underTest = await startConsole(testDatabase, {
    ...options,
    configuration: (loaded) => options.configuration?.(loaded) ?? { ...loaded, ...rulesOf(api) },
  });
  const world = moneyWorld(api);
  const client = await world.client('Zephyrine');
  const account = await world.account(client, { amount: 100_000 });
  const receiver = await world.account(await world.client('Grace'));
  return {
    testDatabase,
    api,
    world,
    underTest,
    client,
    account,
    receiver,
    pay: async ({ amount = 12.5, transferDate, description = 'Rent', from = account } = {}) => {
      const answer = await api.call(
        'POST',
        '/outgoing-transfers',
        {
          workflow: { code: 'client.direct' },
          data: {
            outgoingTransfer: {
              clientId: client,
              currency: 'GBP',
              amount,
              scope: 'internal',
              description,
              ...(transferDate === undefined ? {} : { transferDate }),
              source: { type: 'client-account', accountId: from },
              destination: { type: 'client-account', accountId: receiver },
            },
          },
        },
        { key: newId() },
      );
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body.data.outgoingTransfer;
    },
    find: async (id) => (await api.call('GET', `/outgoing-transfers/${id}`)).body.data.outgoingTransfer,
    audit: (resourceId) =>
      api.database.reader.statement<AuditRow>(
        `SELECT resource, action, actor, role, reason, request_id AS "requestId" FROM audit_entries
         WHERE resource_id = $1 ORDER BY id`,
        [resourceId],
      ),
    stop: async () => {
      await underTest.stop();
      await api.stop();
      await testDatabase.drop();
    },
  };
}

function rulesOf({ services: { configuration } }: TestApi) {
  return { authorization: configuration.authorization, compliance: configuration.compliance };
}
