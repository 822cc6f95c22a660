import type postgres from 'postgres';

export const ACCOUNT_COUNT = 1_000;

export interface BenchAccount {
  readonly clientId: string;
  readonly accountId: string;
}

/** In minor units; enough that no balance runs out. */
const OPENING_BALANCE = 100_000_000_000;

/** `name` starts the numbers of these clients and accounts; `firstNumber` is their first bank account number. */
export interface AccountKind {
  readonly name: string;
  readonly method: 'built-in' | 'plug-in';
  readonly provider: string;
  readonly firstNumber: number;
}

const BUILT_IN: AccountKind = { name: 'bench', method: 'built-in', provider: 'sandbox-bank', firstNumber: 1 };
export const PLUG_IN: AccountKind = {
  name: 'plug-in',
  method: 'plug-in',
  provider: 'custom-bank',
  firstNumber: 50_001,
};

/** As stored for an individual of which only the names were sent. */
const IDENTITY = JSON.stringify({
  type: 'individual',
  givenName: 'Bench',
  familyName: 'Mark',
  birthDate: null,
  country: 'GB',
  identifications: [],
});
const PROFILE = JSON.stringify({
  identityType: 'individual',
  residentialAddress: {
    country: 'GB',
    region: null,
    city: 'London',
    street: null,
    houseNumber: null,
    postalCode: null,
    refinement: null,
  },
  phone: null,
  email: null,
});

/** Active accounts of one currency, with clients and balances backed by postings, written by SQL. */
export async function createAccounts(sql: postgres.Sql, kind = BUILT_IN): Promise<BenchAccount[]> {
  const { name, method, provider, firstNumber } = kind;
  await createClients(sql, name, ACCOUNT_COUNT);
  await sql.unsafe(`
    INSERT INTO accounts (id, client_id, status, method, provider, country, currency, alias, ledger_number, account_number,
        routing_codes, account_holder_name, account_holder_identity_type, connection_id, connection_state,
        connection_status, connection_reference, created_at)
      SELECT uuidv7(), id, 'active', '${method}', '${provider}', 'GB', 'GBP', 'GBP Account', client_number,
        lpad((${firstNumber - 1} + row_number() OVER (ORDER BY id))::text, 8, '0'), '{"sort-code": "040075"}', full_name, 'individual', uuidv7(),
        'completed-up-to-date', 'active', client_number, service_now()
      FROM clients WHERE client_number LIKE '${name}-%'`);
  await sql.unsafe(`
    SELECT ledger_post(service_now(), system_account('${provider}', 'GBP', 'settlement'), id, ${OPENING_BALANCE}, 'GBP',
      '20260101-BENCH0', '20260101-BENCH0', 'incoming-transfer', 'incoming-transfer', 'principal', NULL, NULL, NULL)
    FROM accounts WHERE ledger_number LIKE '${name}-%'`);
  return findAccounts(sql, kind);
}

export async function findAccounts(sql: postgres.Sql, { name }: AccountKind): Promise<BenchAccount[]> {
  const rows = await sql<BenchAccount[]>`
    SELECT client_id AS "clientId", id AS "accountId" FROM accounts WHERE ledger_number LIKE ${`${name}-%`} ORDER BY id`;
  return [...rows];
}

/** The two tables of the floor, with as many accounts. */
export async function createFloorAccounts(sql: postgres.Sql): Promise<string[]> {
  await sql.unsafe(`
    CREATE TABLE floor_accounts (id uuid PRIMARY KEY, balance_minor bigint NOT NULL) WITH (fillfactor = 60);
    CREATE TABLE floor_entries (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, account_id uuid NOT NULL, amount_minor bigint NOT NULL,
      balance_after_minor bigint NOT NULL
    );
    INSERT INTO floor_accounts SELECT uuidv7(), ${OPENING_BALANCE} FROM generate_series(1, ${ACCOUNT_COUNT})`);
  const rows = await sql<{ id: string }[]>`SELECT id FROM floor_accounts ORDER BY id`;
  return rows.map(({ id }) => id);
}

/** Active clients without a provider, written by SQL; `name` starts their numbers. */
export async function createClients(sql: postgres.Sql, name: string, count: number): Promise<string[]> {
  const rows = await sql.unsafe<{ id: string }[]>(`
    INSERT INTO clients (id, client_number, status, identity_type, identity, profile, full_name, country, created_at)
      SELECT uuidv7(), '${name}-' || n, 'active', 'individual', '${IDENTITY}', '${PROFILE}', 'Bench Mark', 'GB', service_now()
      FROM generate_series(1, ${count}) AS n RETURNING id`);
  return rows.map(({ id }) => id);
}
