import { createHash } from 'node:crypto';
import type { Json } from '../../api.ts';
import type { WholeService } from '../../servers/whole-service.ts';
import { FILE_BANK } from './names.ts';

interface OurFile {
  readonly direction: 'out' | 'in';
  readonly name: string;
  readonly state: string;
  readonly reason: string | null;
  readonly digest: string;
  readonly content: Buffer;
}

interface Received {
  readonly fileName: string;
  readonly digest: string;
  readonly outcome: string;
  readonly code: string | null;
}

interface Written {
  readonly id: string;
  readonly fileName: string;
  readonly isDelivered: boolean;
}

async function fromBank(service: WholeService, path: string): Promise<Json> {
  return (await fetch(`${service.sandboxUrl}/file-bank${path}`)).json();
}

function filesAtBank(service: WholeService): Promise<{ received: Received[]; written: Written[] }> {
  return fromBank(service, `/files?customer=${FILE_BANK}`);
}

/** The bank returns payments of this last amount right after they are accepted. */
const UNDELIVERABLE_PENCE = 2;
const OPEN = `SELECT (SELECT count(*) FROM bank_files WHERE provider = $1 AND state IN ('built', 'delivering', 'fetched'))::integer
    + (SELECT count(*) FROM bank_instructions WHERE provider = $1 AND state NOT IN ('completed', 'rejected', 'failed'))::integer
    + (SELECT count(*) FROM outgoing_transfers WHERE provider = $1 AND scope = 'external' AND status = 'completed' AND NOT returned
        AND amount_minor % 100 = ${UNDELIVERABLE_PENCE})::integer AS open,
  ARRAY(SELECT name FROM bank_files WHERE provider = $1 AND direction = 'in') AS names`;

/** How much is still to be told or taken, on either side. */
export async function countOpenFiles(service: WholeService): Promise<number> {
  const { written } = await filesAtBank(service);
  const [row] = await service.database.reader.statement<{ open: number; names: readonly string[] }>(OPEN, [FILE_BANK]);
  if (row === undefined) throw new Error('no row');
  const fetched = new Set(row.names.map(firstNameOf));
  return row.open + written.filter(({ fileName, isDelivered }) => !isDelivered || !fetched.has(fileName)).length;
}

/** A doubled file has two names, this one and one that begins otherwise; it is one file to us, whichever came first. */
function firstNameOf(name: string): string {
  return name.replace(/^2-/, '');
}

/** Each file is at the other side, once and with its bytes; what is set aside is what no bank should send. */
export async function problemsOfFiles(service: WholeService): Promise<string[]> {
  const { received, written } = await filesAtBank(service);
  const ours = await service.database.reader.statement<OurFile>(
    `SELECT direction, name, state, reason, encode(digest, 'hex') AS digest, content FROM bank_files WHERE provider = $1`,
    [FILE_BANK],
  );
  const sent = ours.filter(({ direction }) => direction === 'out');
  const fetched = ours.filter(({ direction }) => direction === 'in');
  return [
    ...problemsOfSent(sent, received),
    ...(await problemsOfTold(service, fetched, written)),
    ...(await problemsOfBreaks(service)),
    ...(await problemsOfInstructions(service)),
    ...(await problemsOfPosition(service)),
  ];
}

const BY_FILE = `SELECT count(*)::integer AS payments, count(*) FILTER (WHERE status = 'completed')::integer AS completed,
    count(*) FILTER (WHERE returned_minor > 0)::integer AS returned, count(*) FILTER (WHERE status = 'failed')::integer AS failed
  FROM outgoing_transfers WHERE provider = $1
    AND EXISTS (SELECT 1 FROM bank_instructions WHERE transfer_id = outgoing_transfers.id AND file_id IS NOT NULL)`;
const FILES = `SELECT count(*) FILTER (WHERE direction = 'out')::integer AS sent, count(*) FILTER (WHERE state = 'taken')::integer AS taken,
    count(*) FILTER (WHERE direction = 'in' AND state = 'set-aside')::integer AS "setAside"
  FROM bank_files WHERE provider = $1`;

/** Payments that have gone into a file. */
export async function countPaymentsByFile({ database }: WholeService): Promise<number> {
  const [row] = await database.reader.statement<{ payments: number }>(BY_FILE, [FILE_BANK]);
  return row?.payments ?? 0;
}

export async function readFigures({ database }: WholeService): Promise<Readonly<Record<string, number>>> {
  const [payments] = await database.reader.statement<Record<string, number>>(BY_FILE, [FILE_BANK]);
  const [files] = await database.reader.statement<Record<string, number>>(FILES, [FILE_BANK]);
  return { ...payments, ...files };
}

function problemsOfSent(ours: readonly OurFile[], received: readonly Received[]): string[] {
  const problems: string[] = [];
  const byName = new Map<string, Received[]>();
  for (const file of received) byName.set(file.fileName, [...(byName.get(file.fileName) ?? []), file]);
  for (const { name, state, reason, digest } of ours) {
    const taken = byName.get(name) ?? [];
    byName.delete(name);
    if (state !== 'delivered') problems.push(`file ${name} is ${state}: ${reason}`);
    const [one] = taken;
    if (taken.length === 1 && one?.outcome === 'taken' && one.digest === digest) continue;
    const seen = taken.map(({ outcome, code }) => `${outcome} ${code ?? ''}`);
    problems.push(`file ${name}: the bank has it ${taken.length} times: ${seen.join(', ')}`);
  }
  for (const name of byName.keys()) problems.push(`file ${name}: the bank has it, and we do not know it`);
  return problems;
}

async function problemsOfTold(service: WholeService, ours: readonly OurFile[], written: readonly Written[]) {
  const problems: string[] = [];
  if (!written.some(({ fileName }) => fileName.startsWith('camt.053')))
    problems.push('the bank has written no statement');
  const byDigest = new Map(ours.map((file) => [file.digest, file]));
  const whole = new Map<string, Buffer>();
  for (const { id, fileName } of written) {
    const response = await fetch(`${service.sandboxUrl}/file-bank/files/${id}`);
    const content = Buffer.from(await response.arrayBuffer());
    const digest = createHash('sha256').update(content).digest('hex');
    const file = byDigest.get(digest);
    if (file?.state !== 'taken') {
      problems.push(`the bank's file ${fileName} is ${file?.state ?? 'lost'}: ${file?.reason ?? ''}`);
    }
    whole.set(fileName, content);
    byDigest.delete(digest);
  }
  for (const { name, state, reason, content } of byDigest.values()) {
    if (state === 'set-aside' && (isStrange(name) || isPartOf(content, whole.get(firstNameOf(name))))) continue;
    problems.push(`the file ${name}, which the bank did not write, is ${state}: ${reason}`);
  }
  return problems;
}

/** The bank's files that no payment is behind. */
function isStrange(name: string): boolean {
  return /^pain\.002-SBX/.test(name);
}

/** A file that the bank showed in half for longer than two listings are apart; the whole one came after it. */
function isPartOf(content: Buffer, whole: Buffer | undefined): boolean {
  return whole !== undefined && content.length < whole.length && whole.subarray(0, content.length).equals(content);
}

async function problemsOfBreaks({ database }: WholeService): Promise<string[]> {
  const rows = await database.reader.statement<{ kind: string; ourReference: string | null; details: Json }>(
    `SELECT kind, our_reference AS "ourReference", details FROM reconciliation_breaks WHERE provider = $1`,
    [FILE_BANK],
  );
  return rows.map(
    ({ kind, ourReference, details }) => `a break: ${kind} of ${ourReference}: ${JSON.stringify(details)}`,
  );
}

async function problemsOfInstructions({ database }: WholeService): Promise<string[]> {
  const rows = await database.reader.statement<{ id: string; state: string; held: string | null }>(
    `SELECT instruction_id AS id, state, held_reason AS held FROM bank_instructions
     WHERE provider = $1 AND (state NOT IN ('completed', 'rejected', 'failed') OR held_reason IS NOT NULL)`,
    [FILE_BANK],
  );
  return rows.map(({ id, state, held }) => `instruction ${id} is ${state}${held === null ? '' : `, held: ${held}`}`);
}

/** The bank's position is the sum of its statement. */
async function problemsOfPosition(service: WholeService): Promise<string[]> {
  const { positions } = await fromBank(service, '/positions');
  const { entries } = await fromBank(service, '/statement');
  return positions.flatMap(({ currency, position }: Json) => {
    const own = entries.filter((entry: Json) => entry.currency === currency);
    const sum = own.reduce((total: number, { direction, amount }: Json) => {
      return total + (direction === 'credit' ? 1 : -1) * Math.round(amount * 100);
    }, 0);
    if (sum === Math.round(position * 100)) return [];
    return [`the file bank's position is ${position} ${currency}, its entries say ${sum / 100}`];
  });
}
