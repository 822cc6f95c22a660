import { existsSync } from 'node:fs';
import { type Books, type Change, changeKey, type TableName } from '../books.ts';
import { Journal } from './journal.ts';

type Tables = { readonly [Name in TableName]: Map<string, Books[Name]> };

const KEYS: { readonly [Name in TableName]: (row: Books[Name]) => string } = {
  clients: (row) => row.ourReference,
  existingClients: (row) => row.sourceId,
  existingBeneficiaries: (row) => row.sourceId,
  existingAccounts: (row) => row.sourceId,
  accounts: (row) => row.ourReference,
  accountChanges: changeKey,
  payments: (row) => row.ourReference,
  paymentsIn: (row) => row.paymentId,
  entries: (row) => row.entryId,
  timers: (row) => row.id,
  callbacks: (row) => row.id,
  fileCustomers: (row) => row.name,
  receivedFiles: (row) => row.id,
  instructions: (row) => row.ourReference,
  bookings: (row) => row.id,
  notices: (row) => row.id,
  messagesDue: (row) => row.id,
  messagesOut: (row) => row.id,
  accountStatements: (row) => row.id,
};

const TABLE_NAMES = [
  'clients',
  'existingClients',
  'existingBeneficiaries',
  'existingAccounts',
  'accounts',
  'accountChanges',
  'payments',
  'paymentsIn',
  'entries',
  'timers',
  'callbacks',
  'fileCustomers',
  'receivedFiles',
  'instructions',
  'bookings',
  'notices',
  'messagesDue',
  'messagesOut',
  'accountStatements',
] as const satisfies readonly TableName[];

/** On start the journal is compacted if it has more changes than this, and more than twice as many as rows. */
const COMPACTION_CHANGES_MIN = 20_000;

/**
 * The books in memory, backed by a journal of every change. A change is visible at once and durable when `commit`
 * resolves; before announcing anything read from them, wait for `settled`.
 */
export class Store {
  readonly tables: Tables;
  readonly #journal: Journal;

  private constructor(tables: Tables, journal: Journal) {
    this.tables = tables;
    this.#journal = journal;
  }

  static async open(file: string, onFailure: (error: unknown) => void): Promise<Store> {
    const tables = emptyTables();
    let changes = 0;
    const replay = (line: string) => {
      changes += 1;
      apply(tables, decode(line));
    };
    let journal = await Journal.open(file, { replay, onFailure });
    const rows = TABLE_NAMES.reduce((sum, name) => sum + tables[name].size, 0);
    if (existsSync(file) && changes > COMPACTION_CHANGES_MIN && changes > rows * 2) {
      await journal.close();
      await Journal.replace(file, snapshot(tables));
      journal = await Journal.open(file, { replay: () => {}, onFailure });
    }
    return new Store(tables, journal);
  }

  commit(change: Change): Promise<void> {
    apply(this.tables, change);
    return this.#journal.append(encode(change));
  }

  settled(): Promise<void> {
    return this.#journal.settled();
  }

  close(): Promise<void> {
    return this.#journal.close();
  }
}

function emptyTables(): Tables {
  return {
    clients: new Map(),
    existingClients: new Map(),
    existingBeneficiaries: new Map(),
    existingAccounts: new Map(),
    accounts: new Map(),
    accountChanges: new Map(),
    payments: new Map(),
    paymentsIn: new Map(),
    entries: new Map(),
    timers: new Map(),
    callbacks: new Map(),
    fileCustomers: new Map(),
    receivedFiles: new Map(),
    instructions: new Map(),
    bookings: new Map(),
    notices: new Map(),
    messagesDue: new Map(),
    messagesOut: new Map(),
    accountStatements: new Map(),
  };
}

function apply(tables: Tables, change: Change): void {
  for (const name of TABLE_NAMES) {
    put(tables, name, change);
    for (const key of change.remove?.[name] ?? []) tables[name].delete(key);
  }
}

function put<Name extends TableName>(tables: Tables, name: Name, change: Change): void {
  const rows: readonly Books[Name][] = change.put?.[name] ?? [];
  for (const row of rows) tables[name].set(KEYS[name](row), row);
}

function* snapshot(tables: Tables): Generator<string> {
  for (const name of TABLE_NAMES) {
    for (const row of tables[name].values()) yield encode({ put: { [name]: [row] } });
  }
}

/** The end of the names of amounts, in rows and in everything that rows hold. */
const AMOUNT = 'Minor';

function encode(change: Change): string {
  return JSON.stringify(change, (key, value: unknown) => {
    if (typeof value !== 'bigint') return value;
    // Under any other name it would be read back as text.
    if (!key.endsWith(AMOUNT)) throw new Error(`the name of the amount ${key} does not end in ${AMOUNT}`);
    return value.toString();
  });
}

/** Only this class writes the file, so a complete line is a change. */
function decode(line: string): Change {
  return JSON.parse(line, (key, value: unknown) =>
    key.endsWith(AMOUNT) && typeof value === 'string' ? BigInt(value) : value,
  ) as Change;
}
