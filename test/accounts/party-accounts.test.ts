import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { migrate } from '../../db/migrate.ts';
import { startApi } from '../harness/api.ts';
import { createEmptyDatabase } from '../harness/servers/postgres.ts';

// Rows from which transfers show accounts: created for existing accounts and maintained by the database itself, so
// that the previous release can run beside and after them.

const MIGRATIONS = fileURLToPath(new URL('../../db/migrations/', import.meta.url));
const OWN = '0015_party_accounts.sql';

async function migratedBefore(): Promise<{ url: string; drop: () => Promise<void>; client: postgres.Sql }> {
  const database = await createEmptyDatabase('party-accounts');
  const client = postgres(database.url, { max: 1, onnotice: () => {} });
  const directory = mkdtempSync(join(tmpdir(), 'migrations-'));
  onTestFinished(async () => {
    await client.end({ timeout: 1 });
    await database.drop();
    rmSync(directory, { recursive: true, force: true });
  });
  for (const name of readdirSync(MIGRATIONS).filter((name) => name < OWN))
    cpSync(join(MIGRATIONS, name), join(directory, name));
  await migrate(database.url, pathToFileURL(`${directory}/`));
  return { ...database, client };
}

const HOLDER = { type: 'individual', givenName: 'Grace', familyName: 'Hopper', birthDate: '1990-12-09', country: 'US' };

async function insertAccount(
  client: postgres.Sql,
  holderName = 'Grace Hopper',
): Promise<{ id: string; clientId: string }> {
  const [id, clientId] = [randomUUID(), randomUUID()];
  await client`
    INSERT INTO clients (id, client_number, status, identity_type, identity, profile, full_name, created_at)
    VALUES (${clientId}, ${clientId}, 'active', 'individual', ${client.json(HOLDER)}, '{}', 'Grace Hopper', now())`;
  await client`
    INSERT INTO accounts (id, client_id, status, method, provider, country, currency, alias, ledger_number,
      account_holder_name, account_holder_identity_type, created_at)
    VALUES (${id}, ${clientId}, 'active', 'plug-in', 'custom-bank', 'GB', 'GBP', 'First', ${id.slice(0, 23)}, ${holderName}, 'individual', now())`;
  return { id, clientId };
}

async function credit(client: postgres.Sql, id: string, amountMinor: number): Promise<void> {
  await client`
    SELECT ledger_post(now(), system_account('custom-bank', 'GBP', 'settlement'), ${id}, ${amountMinor}, 'GBP', ${id}, ${id},
      'incoming-transfer', 'incoming-transfer', 'principal', NULL, NULL, NULL)`;
}

/** As the release before settles a transfer. */
async function settleAsBefore(
  client: postgres.Sql,
  from: { id: string; clientId: string },
  to: string,
): Promise<string> {
  const id = randomUUID();
  const transfer = {
    machine_user_id: randomUUID(),
    path: '/outgoing-transfers',
    response_body: '',
    outgoing_id: id,
    incoming_id: randomUUID(),
    outgoing_number: `o-${id.slice(0, 8)}`,
    incoming_number: `i-${id.slice(0, 8)}`,
    outgoing_event_id: randomUUID(),
    incoming_event_id: randomUUID(),
    client_id: from.clientId,
    source_id: from.id,
    destination_id: to,
    currency: 'GBP',
    amount_minor: 100,
    fee_minor: 0,
    transfer_date: new Date().toISOString().slice(0, 10),
  };
  const entries = JSON.stringify([{ type: 'x', data: {} }]);
  const [settled] = await client`
    SELECT outcome FROM settle_internal_transfers(${JSON.stringify([transfer])}::text::json, true, ${entries}::text::json, ${entries}::text::json)`;
  expect(settled?.outcome).toBe('settled');
  return id;
}

async function partiesOf(client: postgres.Sql, accountId: string) {
  const rows =
    await client`SELECT alias, holder_identity AS holder FROM party_accounts WHERE account_id = ${accountId} ORDER BY id`;
  return rows.map(({ alias, holder }) => [alias, holder]);
}

test('every account has a row from the migration on, and another one with each change of what others see of it', async () => {
  const { url, client } = await migratedBefore();
  const present = await insertAccount(client);
  const renamed = await insertAccount(client, 'Grace Murray');
  await migrate(url);
  const later = await insertAccount(client);
  const holder = { type: 'individual', givenName: 'Grace', familyName: 'Hopper' };
  for (const { id } of [present, later]) expect(await partiesOf(client, id)).toEqual([['First', holder]]);
  expect(await partiesOf(client, renamed.id)).toEqual([['First', { type: 'individual' }]]);

  await client`UPDATE accounts SET alias = 'Second' WHERE id = ${present.id}`;
  await client`UPDATE accounts SET alias = alias, status = 'inactive', posted_minor = 0 WHERE id = ${present.id}`;
  expect((await partiesOf(client, present.id)).map(([alias]) => alias)).toEqual(['First', 'Second']);
  for (const change of [
    `UPDATE party_accounts SET alias = 'x'`,
    'DELETE FROM party_accounts',
    'TRUNCATE party_accounts',
  ]) {
    await expect(client.unsafe(change)).rejects.toThrow('append-only');
  }
});

test('a transfer of the release before shows an account as it was when the rows came, before and after a change', async () => {
  const { url, client } = await migratedBefore();
  const [from, to] = [await insertAccount(client), await insertAccount(client)];
  await credit(client, from.id, 1_000);
  const before = await settleAsBefore(client, from, to.id);
  await migrate(url);
  const during = await settleAsBefore(client, from, to.id);
  await client`UPDATE accounts SET alias = 'Second' WHERE id = ${to.id}`;
  const api = await startApi({ url });
  for (const id of [before, during]) {
    const { body } = await api.call('GET', `/outgoing-transfers/${id}`, undefined, {});
    expect(body.data.outgoingTransfer.beneficiary.account.alias).toBe('First');
  }
  const { body, status, text } = await api.call('POST', '/outgoing-transfers', {
    workflow: { code: 'client.direct' },
    data: {
      outgoingTransfer: {
        clientId: from.clientId,
        currency: 'GBP',
        amount: 1,
        scope: 'internal',
        source: { type: 'client-account', accountId: from.id },
        destination: { type: 'client-account', accountId: to.id },
      },
    },
  });
  expect(status, text).toBe(201);
  const after = await api.call('GET', `/outgoing-transfers/${body.data.outgoingTransfer.id}`);
  expect(after.body.data.outgoingTransfer.beneficiary.account.alias).toBe('Second');
  await api.stop();
});
