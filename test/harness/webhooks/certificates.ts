import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

export interface CertificateOptions {
  /** Default `localhost`. */
  readonly host?: string;
  /** The years at whose beginnings its validity begins and ends. */
  readonly years?: readonly [from: number, to: number];
  readonly rsaBits?: number;
  readonly digest?: 'sha1' | 'sha256';
  readonly usage?: 'serverAuth' | 'clientAuth';
}

/** A certificate authority made on the spot; its own certificate is self-signed. */
export interface CertificateAuthority extends Certificate {
  issue(options?: CertificateOptions): Certificate;
  close(): void;
}

export function createCertificateAuthority(): CertificateAuthority {
  const folder = mkdtempSync(join(tmpdir(), 'webhook-tls-'));
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const pair = (name: string): Certificate => ({
    key: readFileSync(join(folder, `${name}.key`), 'utf8'),
    cert: readFileSync(join(folder, `${name}.pem`), 'utf8'),
  });
  openssl('req', '-x509', ...EC_KEY, '-days', '2', '-subj', '/CN=localhost', '-keyout', 'ca.key', '-out', 'ca.pem');
  writeFileSync(join(folder, 'index'), '');
  let issued = 0;
  return {
    ...pair('ca'),
    issue: ({ host = 'localhost', years = [2020, 2090], rsaBits, digest = 'sha256', usage = 'serverAuth' } = {}) => {
      issued += 1;
      const name = String(issued);
      const newKey = rsaBits === undefined ? EC_KEY : ['-newkey', `rsa:${rsaBits}`, '-nodes'];
      openssl('req', '-new', ...newKey, '-subj', `/CN=${host}`, '-keyout', `${name}.key`, '-out', `${name}.csr`);
      writeFileSync(join(folder, 'ca.cnf'), settings({ host, digest, usage }));
      const [from, to] = years;
      const validity = ['-startdate', `${from}0101000000Z`, '-enddate', `${to}0101000000Z`];
      const files = ['-in', `${name}.csr`, '-out', `${name}.pem`];
      openssl('ca', '-batch', '-notext', '-config', 'ca.cnf', ...validity, ...files);
      return pair(name);
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const EC_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

function settings({ host, digest, usage }: { host: string; digest: string; usage: string }): string {
  return `
[ca]
default_ca = authority
[authority]
database = index
new_certs_dir = .
certificate = ca.pem
private_key = ca.key
rand_serial = yes
unique_subject = no
default_md = ${digest}
policy = subject
x509_extensions = leaf
[subject]
commonName = supplied
[leaf]
subjectAltName = DNS:${host}
extendedKeyUsage = ${usage}
`;
}
