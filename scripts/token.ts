import { parseArgs } from 'node:util';
import { isRole, ROLES, type Role } from '../domain/machine-users/roles.ts';
import { readEndpoints } from './frame/endpoints.ts';
import { describeFailure, RemedyError } from './frame/remedy.ts';
import { developmentToken } from './start/development-users.ts';
import { dataDirectory } from './start/start-environment.ts';

/** `npm run -s token [-- --role R]`: a bearer token and nothing else on standard output. */
async function main(): Promise<void> {
  const role = wantedRole();
  const directory = dataDirectory(process.env);
  const token = await developmentToken(directory, readEndpoints(directory), { role, now: new Date() });
  process.stdout.write(`${token}\n`);
}

function wantedRole(): Role | undefined {
  const usage = `Usage: npm run -s token [-- --role ${ROLES.join('|')}]`;
  let role: string | undefined;
  try {
    role = parseArgs({ options: { role: { type: 'string' } } }).values.role;
  } catch (error) {
    throw new RemedyError(usage, { cause: error });
  }
  if (role !== undefined && !isRole(role)) throw new RemedyError(`There is no role "${role}". ${usage}`);
  return role;
}

main().catch((error: unknown) => {
  process.stderr.write(`${describeFailure(error)}\n`);
  process.exit(1);
});
