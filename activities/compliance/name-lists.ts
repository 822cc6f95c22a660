import { createReadStream } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { CsvError, parse } from 'csv-parse';
import type { Logger } from 'pino';
import { ConfigurationError } from '../../config/files.ts';
import {
  type Columns,
  type ListedEntity,
  type NameHit,
  NameList,
  type NameListProblem,
  readEntity,
  readHeader,
} from '../../domain/compliance/name-lists.ts';
import type { ComplianceRule, NameRule } from '../../domain/compliance/rules.ts';
import { measureNameList, nameListFailures } from '../common/metrics.ts';
import { withPauses } from '../common/pauses.ts';

/** Rows added to a list between two pauses. */
const ROWS_PER_BATCH = 200;

/** Temporal retries the screening: without its list a rule can neither stop nor pass a transfer. */
export class NameListMissing extends Error {
  constructor(rule: string) {
    super(`the list of the rule ${rule} cannot be used`);
    this.name = 'NameListMissing';
  }
}

/** Why a file was not accepted as a list: lines and rules, never contents. */
class NameListRejected extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'NameListRejected';
  }
}

/** Throws for the first rule whose file cannot be read: a configuration error, unlike a file with broken content. */
export async function requireNameLists(rules: readonly ComplianceRule[]): Promise<void> {
  for (const { name, file } of rules.filter((rule) => rule.kind === 'name')) {
    await access(file, constants.R_OK).catch((error: unknown) => {
      throw new ConfigurationError([`${file} cannot be read: ${reasonOf(error)} (rule "${name}")`]);
    });
  }
}

/** A listed name, and the name of the payment that is similar to it. */
export interface FoundName extends NameHit {
  readonly name: string;
}

interface Loaded {
  readonly list: NameList;
  /** The file's modification time and size. */
  readonly version: string;
}

/**
 * The lists of the configured name rules. A changed file is read again before the next search; if it cannot be used, the
 * previous list stays in use.
 */
export class NameLists {
  readonly #logger: Logger;
  readonly #loaded = new Map<string, Loaded>();
  /** The version of each file whose content cannot be used: it is not read again. */
  readonly #rejected = new Map<string, string>();
  /** The last reported problem of each file, so that it is reported once. */
  readonly #reported = new Map<string, string>();
  readonly #refreshing = new Map<string, Promise<void>>();
  readonly #rules: readonly NameRule[];

  constructor(rules: readonly ComplianceRule[], logger: Logger) {
    this.#rules = rules.filter((rule) => rule.kind === 'name');
    this.#logger = logger;
  }

  /** Reads every file that has changed. Never rejects: a list that cannot be used is logged and counted. */
  async refreshAll(): Promise<void> {
    await Promise.all(this.#rules.map((rule) => this.#refresh(rule)));
  }

  /** Whether one of the names is similar to a listed one, by the rule's list and threshold. */
  async isListed(rule: NameRule, names: readonly string[]): Promise<boolean> {
    await this.#refresh(rule);
    const loaded = this.#loaded.get(rule.file);
    if (loaded === undefined) throw new NameListMissing(rule.name);
    for (const name of names) if (await withPauses(loaded.list.search(name, rule.threshold))) return true;
    return false;
  }

  /** The listed names that are similar to one of the names, by the rule's list and threshold; at most this many, for a person to look at. */
  async findHits(rule: NameRule, names: readonly string[], max: number): Promise<readonly FoundName[]> {
    await this.#refresh(rule);
    const loaded = this.#loaded.get(rule.file);
    if (loaded === undefined) throw new NameListMissing(rule.name);
    const found: FoundName[] = [];
    for (const name of names) {
      for (const hit of await withPauses(loaded.list.hits(name, rule.threshold))) found.push({ ...hit, name });
    }
    return found.sort((one, other) => other.similarity - one.similarity).slice(0, max);
  }

  /** Reads each file once at a time. */
  #refresh(rule: NameRule): Promise<void> {
    const running = this.#refreshing.get(rule.file);
    if (running !== undefined) return running;
    const refreshing = this.#refreshOnce(rule).finally(() => this.#refreshing.delete(rule.file));
    this.#refreshing.set(rule.file, refreshing);
    return refreshing;
  }

  async #refreshOnce({ name, file }: NameRule): Promise<void> {
    let version = 'absent';
    try {
      version = await versionOf(file);
      const before = this.#loaded.get(file);
      if (version === before?.version) this.#reported.delete(file);
      if (version === before?.version || version === this.#rejected.get(file)) return;
      const list = await readList(file);
      if ((await versionOf(file)) !== version) throw new NameListRejected('was written while it was read');
      rejectShrunk(list, before?.list);
      this.#loaded.set(file, { list, version });
      this.#reported.delete(file);
      measureNameList(name, { entityCount: list.entityCount, modifiedMs: Number(version.split('/')[0]) });
      this.#logger.info({ rule: name, entities: list.entityCount }, 'list of names read');
    } catch (error) {
      // The same content stays unusable; an error of the operating system may have passed at the next attempt.
      if (isAboutContent(error)) this.#rejected.set(file, version);
      this.#report(name, file, version, error);
    }
  }

  #report(rule: string, file: string, version: string, error: unknown): void {
    const reason = reasonOf(error);
    if (this.#reported.get(file) === `${version} ${reason}`) return;
    this.#reported.set(file, `${version} ${reason}`);
    nameListFailures.inc({ rule });
    this.#logger.error({ rule, file, reason }, 'list of names cannot be used');
  }
}

async function versionOf(file: string): Promise<string> {
  const { mtimeMs, size } = await stat(file);
  return `${mtimeMs}/${size}`;
}

async function readList(file: string): Promise<NameList> {
  const list = new NameList();
  let columns: Columns | null = null;
  let batch: ListedEntity[] = [];
  const rows = parse({ bom: true, info: true, skip_empty_lines: true });
  const source = createReadStream(file);
  source.on('error', (error) => rows.destroy(error)).pipe(rows);
  try {
    for await (const { record, info } of rows as AsyncIterable<ParsedRow>) {
      if (columns === null) {
        columns = accepted(readHeader(record));
        continue;
      }
      batch.push(accepted(readEntity(record, columns, info.lines)));
      if (batch.length < ROWS_PER_BATCH) continue;
      await withPauses(list.add(batch));
      batch = [];
    }
  } finally {
    source.destroy();
  }
  await withPauses(list.add(batch));
  if (list.entityCount === 0) throw new NameListRejected('has no entity');
  return list;
}

interface ParsedRow {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

function accepted<Value extends object>(value: Value | NameListProblem): Value {
  if ('message' in value) throw new NameListRejected(`line ${value.line} ${value.message}`);
  return value;
}

/** A list that loses half of its entities has probably been cut off. If the loss is intended, restart the workers. */
function rejectShrunk(list: NameList, before: NameList | undefined): void {
  if (before === undefined || list.entityCount * 2 > before.entityCount) return;
  throw new NameListRejected(`has ${list.entityCount} entities where the list in use has ${before.entityCount}`);
}

function isAboutContent(error: unknown): boolean {
  return error instanceof NameListRejected || error instanceof CsvError;
}

/** Never a parser's message, which quotes the file. */
function reasonOf(error: unknown): string {
  if (error instanceof NameListRejected) return error.message;
  if (error instanceof CsvError) return `line ${String(error.lines)}: ${error.code}`;
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
