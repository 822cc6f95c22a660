import type { BankFileId } from '../../../domain/common/ids.ts';
import type { Initiator } from '../../common/audit-entries.ts';
import { newId } from '../../common/ids.ts';
import type { Transaction } from '../../query/database.ts';
import { auditFile, lockStanding } from './files.ts';

// $4 is the content.
const CARRY = `
  INSERT INTO bank_files (id, provider, direction, name, digest, content, size, state, created_at)
  SELECT $1::uuid, $2, 'in', $3, sha256(given.content), given.content, length(given.content), 'carried', service_now()
  FROM (SELECT $4::bytea AS content) AS given
  ON CONFLICT (provider, digest) WHERE direction = 'in' DO NOTHING RETURNING id`;
const STORED = `SELECT id FROM bank_files WHERE provider = $1 AND direction = 'in' AND digest = sha256($2::bytea)`;

interface Carried {
  readonly provider: string;
  readonly name: string;
  readonly content: Uint8Array;
}

/** Keeps a file of the bank that a person has brought, once, whatever its name. Nothing of it is read before the second signature. */
export async function storeCarriedFile(tx: Transaction, file: Carried, initiator: Initiator) {
  const { provider, name, content } = file;
  const [stored] = await tx.statement<{ id: BankFileId }>(CARRY, [newId<BankFileId>(), provider, name, content]);
  const [known] = stored === undefined ? await tx.statement<{ id: BankFileId }>(STORED, [provider, content]) : [stored];
  if (known === undefined) throw new Error(`the file ${name} of ${provider} is neither new nor stored`);
  const standing = await lockStanding(tx, known.id);
  if (stored !== undefined) {
    auditFile(tx, known.id, { initiator, action: 'brought', after: { provider, name, digest: standing.digest } });
  }
  return { standing, isNew: stored !== undefined };
}
