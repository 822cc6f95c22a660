import type * as openpgp from 'openpgp';

export type OpenPgp = typeof openpgp;

/** Our side of PGP is not in order, as without a key or its passphrase: nothing is wrong with any file, and each waits. */
export class PgpUnusable extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'PgpUnusable';
  }
}

/** An optional package (LGPL-3.0+), loaded only where a bank's configuration asks for it. */
export async function loadOpenPgp(load: () => Promise<OpenPgp> = () => import('openpgp')): Promise<OpenPgp> {
  try {
    return await load();
  } catch (error) {
    throw new PgpUnusable('The configuration asks for PGP, and the package openpgp is not installed: npm install.', {
      cause: error,
    });
  }
}

/** Throws all other errors. */
export function unusablePgp(error: unknown): PgpUnusable {
  if (error instanceof PgpUnusable) return error;
  throw error;
}
