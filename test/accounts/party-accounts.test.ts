import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../harness/servers/postgres.ts';

// Rows by which transfers show accounts: the database itself keeps them.

const HOLDER = { type: 'individual', givenName: 'Grace', familyName: 'Hopper', birthDate: '1990-12-09', country: 'US' };

async function insertAccount(client: postgres.Sql, holderName = 'Grace Hopper'): Promise<string> {
  const [id, clientId] = [randomUUID(), randomUUID()];
  await client`
    INSERT INTO clients (id, client_number, status, identity_type, identity, profile, full_name, created_at)
    VALUES (${clientId}, ${clientId}, 'active', 'individual', ${client.json(HOLDER)}, '{}', 'Grace Hopper', now())`;
  await client`
    INSERT INTO accounts (id, client_id, status, method, provider, country, currency, alias, ledger_number,
      account_holder_name, account_holder_identity_type, created_at)
    VALUES (${id}, ${clientId}, 'active', 'plug-in', 'custom-bank', 'GB', 'GBP', 'First', ${id.slice(0, 23)}, ${holderName}, 'individual', now())`;
  return id;
}

async function partiesOf(client: postgres.Sql, accountId: string) {
  const rows =
    await client`SELECT alias, holder_identity AS holder FROM party_accounts WHERE account_id = ${accountId} ORDER BY id`;
  return rows.map(({ alias, holder }) => [alias, holder]);
}

test('an account has a row from its opening on, and another one with each change of what others see of it', async () => {
  const database = await createTestDatabase('party-accounts');
  const client = postgres(database.ownerUrl, { max: 1, onnotice: () => {} });
  onTestFinished(async () => {
    await client.end({ timeout: 1 });
    await database.drop();
  });
  const id = await insertAccount(client);
  const renamed = await insertAccount(client, 'Grace Murray');
  expect(await partiesOf(client, id)).toEqual([
    ['First', { type: 'individual', givenName: 'Grace', familyName: 'Hopper' }],
  ]);
  expect(await partiesOf(client, renamed)).toEqual([['First', { type: 'individual' }]]);

  await client`UPDATE accounts SET alias = 'Second' WHERE id = ${id}`;
  await client`UPDATE accounts SET alias = alias, status = 'inactive', posted_minor = 0 WHERE id = ${id}`;
  expect((await partiesOf(client, id)).map(([alias]) => alias)).toEqual(['First', 'Second']);
  for (const change of [
    `UPDATE party_accounts SET alias = 'x'`,
    'DELETE FROM party_accounts',
    'TRUNCATE party_accounts',
  ]) {
    await expect(client.unsafe(change)).rejects.toThrow('append-only');
  }
});
