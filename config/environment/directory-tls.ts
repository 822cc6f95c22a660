import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { EnvironmentError } from '../environment.ts';
import { readNamedFile } from './named-files.ts';

/** How the directory eu-vop knows us, and by which authority we know it: Node’s own unless one is named. */
export interface DirectoryTls {
  readonly identity: {
    /** With those between it and its authority. */
    readonly cert: Buffer;
    readonly key: Buffer;
    readonly passphrase: string | null;
    readonly endsAt: Date;
  } | null;
  readonly ca: Buffer | null;
}

/** Read at the start. Throws one line with the variable, which never has a key's content. */
export function readDirectoryTls(env: NodeJS.ProcessEnv): DirectoryTls {
  const cert = readNamedFile(env, 'EU_VOP_CERTIFICATE_FILE');
  const key = readNamedFile(env, 'EU_VOP_KEY_FILE');
  const ca = readNamedFile(env, 'EU_VOP_CA_FILE') ?? null;
  const passphrase = env.EU_VOP_KEY_PASSPHRASE || null;
  if (ca !== null) certificateIn('EU_VOP_CA_FILE', ca);
  if (cert === undefined && key === undefined && passphrase === null) return { identity: null, ca };
  if (cert === undefined || key === undefined) {
    throw new EnvironmentError('EU_VOP_CERTIFICATE_FILE and EU_VOP_KEY_FILE must be set together.');
  }
  const certificate = certificateIn('EU_VOP_CERTIFICATE_FILE', cert);
  if (!certificate.checkPrivateKey(privateKeyIn(key, passphrase))) {
    throw new EnvironmentError('EU_VOP_KEY_FILE is not the key of the certificate in EU_VOP_CERTIFICATE_FILE.');
  }
  return { identity: { cert, key, passphrase, endsAt: new Date(certificate.validTo) }, ca };
}

function certificateIn(variable: string, content: Buffer): X509Certificate {
  try {
    return new X509Certificate(content);
  } catch {
    throw new EnvironmentError(`${variable} names a file that is no certificate in PEM.`);
  }
}

function privateKeyIn(content: Buffer, passphrase: string | null): KeyObject {
  try {
    return createPrivateKey({ key: content, ...(passphrase === null ? {} : { passphrase }) });
  } catch {
    throw new EnvironmentError(
      'EU_VOP_KEY_FILE names a file that is no private key in PEM, or one that EU_VOP_KEY_PASSPHRASE does not open.',
    );
  }
}
